#include "storage/sql/server_store.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <stdexcept>
#include <unordered_set>

#include "storage/insert_checks.h"
#include "storage/sql/agreement.h"
#include "storage/sql/distinct.h"
#include "storage/sql/endings.h"
#include "storage/sql/folding.h"
#include "storage/sql/group_inserts.h"
#include "storage/sql/housekeeping.h"
#include "storage/sql/inserts.h"
#include "storage/sql/intake.h"
#include "storage/sql/joined_transaction.h"
#include "storage/sql/loading.h"
#include "storage/sql/reads.h"
#include "storage/sql/revisions.h"
#include "storage/sql/searches.h"
#include "storage/sql/splitting.h"
#include "storage/sql/writes.h"
#include "task/task_id.h"

namespace easyretry::storage::sql {
namespace {

constexpr std::size_t kControlConnections = 1;
constexpr std::size_t kQueryConnections = 2;

void validate(const ServerOptions& options) {
  if (options.total_shards < 1 || options.total_shards > task::kMaxShards) {
    throw std::invalid_argument("total_shards must be 1 to 4096, not " + std::to_string(options.total_shards));
  }
  if (options.keep_months < 1) {
    throw std::invalid_argument("keep_months must be 1 or more, not " + std::to_string(options.keep_months) +
                                " (history=none keeps no history)");
  }
}

std::string new_identity() {
  base::Random random{base::random_seed()};
  return std::to_string(random.next()) + std::to_string(random.next());
}

class ServerStore final : public Store {
 public:
  explicit ServerStore(ServerOptions options);

  StoreInfo info() const override { return info_; }
  Result<InsertReply> insert(std::span<const NewTask> tasks) override;
  Result<InsertReply> insert_within(const Transaction& transaction, std::span<const NewTask> tasks) override;
  Result<LoadReply> load(const LoadQuery& query) override;
  Result<ClaimReply> claim(const ClaimRequest& request) override;
  Result<Applied> settle(std::span<const Settlement> settlements) override;
  Result<Applied> renew(std::span<const Renewal> renewals) override;
  Result<std::vector<TaskRecord>> find(std::span<const TaskId> ids) override;
  Result<std::vector<TaskRecord>> list(const TaskQuery& query) override;
  Result<std::int64_t> count(const TaskQuery& query) override;
  Result<Counts> counts(std::string_view space) override;
  Result<Applied> revise(std::span<const Revision> revisions) override;
  Result<Applied> cancel(std::span<const TaskId> ids, Cancel how) override;
  Result<std::vector<std::optional<TaskId>>> requeue(std::span<const TaskId> ids) override;
  Result<BeatReply> beat(const Beat& beat) override;
  Result<BeatReply> members(std::string_view space) override;
  Result<bool> leave(std::string_view space, std::string_view node) override;
  Result<bool> pause(std::string_view space, std::string_view handler, std::string_view why) override;
  Result<bool> resume(std::string_view space, std::string_view handler) override;
  Result<PausedReply> paused(std::string_view space) override;
  Result<KeepReport> keep() override;
  Result<bool> fold_counts() override;
  Result<std::vector<TableInfo>> tables() override;
  Result<std::vector<SplitMove>> split(const SplitRequest& request) override;
  Result<IntakeReply> take_in(const IntakeQuery& query, const Convert& convert) override;
  void announce(const std::string& space) override;
  std::unique_ptr<Listening> listen(const std::string& space, std::function<void()> wake) override;

 private:
  std::string where(const char* verb) const { return options_.kind + "." + verb; }
  // Instead of the server's.
  std::optional<TimePoint> given_time() const {
    return options_.clock != nullptr ? std::optional{options_.clock->now()} : std::nullopt;
  }
  TimePoint now(Session& session) const { return options_.clock != nullptr ? options_.clock->now() : session.now(); }
  void set_up();

  // change(session, part, now) gives the ids that it applied to; no part names a task twice.
  template <class T, class IdOf, class Change>
  Result<Applied> apply(Writes& writes, const char* verb, std::span<const T> batch, IdOf id_of, Change change);
  template <class Body>
  auto read(const char* verb, Body body) {
    return reading_.run(where(verb), std::move(body));
  }

  InsertReply insert_into(Session& session, std::span<const NewTask* const> tasks, TimePoint now);
  Result<IntakeReply> take_in_once(const IntakeQuery& query, const Convert& convert);
  Result<InsertReply> insert_now(std::span<const NewTask* const> tasks);

  const ServerOptions options_;
  Pool control_;
  Pool data_;
  Pool queries_;
  Tables tables_;
  Reads reading_;
  Reads loading_;
  Reads beating_;
  Writes controlling_;
  Writes changing_;
  Writes operating_;
  Inserts inserts_;
  ShardWatch shard_watch_;
  Loading due_tasks_;
  StoreInfo info_;
  std::string identity_;  // of the database: a connection that finds the same in it is to the same one
  GroupInserts group_;
};

ServerStore::ServerStore(ServerOptions options)
    : options_(std::move(options)),
      control_(options_.connect, kControlConnections),
      data_(options_.connect, options_.connections),
      queries_(options_.connect, kQueryConnections),
      tables_(queries_, TableRouter{options_.layout, options_.total_shards, options_.window}),
      reading_(queries_, tables_),
      loading_(data_, tables_),
      beating_(control_, tables_),
      controlling_(control_, tables_, options_.clock),
      changing_(data_, tables_, options_.clock),
      operating_(queries_, tables_, options_.clock),
      inserts_(options_.kind, options_.total_shards),
      shard_watch_(options_, inserts_),
      due_tasks_(where("load"), tables_, shard_watch_),
      group_(where("insert"), [this](std::span<const NewTask* const> tasks) { return insert_now(tasks); }) {
  set_up();
}

void ServerStore::set_up() {
  const auto session = queries_.take();
  session->create_meta();
  session->create_counts();
  session->create_members();
  session->create_pauses();
  agree(*session, options_, tables_);
  if (tables_.several()) session->create_keys();
  tables_.ensure_tasks(now(*session));
  session->create_inbox();
  identity_ = session->agree("identity", new_identity());
  info_ = {.url = options_.url,
           .total_shards = options_.total_shards,
           .durability = session->durability(),
           .shared = true,
           .inbox = true,
           .folds = true};
}

template <class T, class IdOf, class Change>
Result<Applied> ServerStore::apply(Writes& writes, const char* verb, std::span<const T> batch, IdOf id_of,
                                   Change change) {
  if (batch.empty()) return read(verb, [&](Session& session) { return Applied{now(session), {}}; });
  return writes.run(where(verb), Promise::kept, [&](Session& session, TimePoint now) {
    Applied reply{now, {}};
    reply.applied.reserve(batch.size());
    for_distinct(batch, id_of, [&](std::span<const T> part) {
      const auto ids = change(session, part, now);
      const std::unordered_set<TaskId> applied{ids.begin(), ids.end()};
      for (const T& entry : part) reply.applied.push_back(applied.contains(id_of(entry)));
    });
    return reply;
  });
}

Result<InsertReply> ServerStore::insert(std::span<const NewTask> tasks) {
  if (auto error = refuse_batch(tasks, where("insert"))) return tl::make_unexpected(*std::move(error));
  if (tasks.empty()) return read("insert", [&](Session& session) { return InsertReply{now(session), {}}; });
  return group_.insert(tasks);
}

Result<InsertReply> ServerStore::insert_now(std::span<const NewTask* const> tasks) {
  return changing_.run(where("insert"), Promise::kept,
                       [&](Session& session, TimePoint now) { return insert_into(session, tasks, now); });
}

InsertReply ServerStore::insert_into(Session& session, std::span<const NewTask* const> tasks, TimePoint now) {
  shard_watch_.look(session);
  const std::string history = options_.history == History::none ? std::string{} : history_for(tables_, now);
  LiveRows rows{session, tables_, now};
  return {now, inserts_.insert(rows, history, tasks, now)};
}

Result<InsertReply> ServerStore::insert_within(const Transaction& transaction, std::span<const NewTask> tasks) {
  if (!options_.join || transaction.kind != options_.joins) return Store::insert_within(transaction, tasks);
  if (auto error = refuse_batch(tasks, where("insert"))) return tl::make_unexpected(*std::move(error));
  const auto all = pointers(tasks);
  try {
    JoinedTransaction joined{options_.join(transaction.connection)};
    const TimePoint time = now(joined.session());
    // On another connection: making one would commit theirs.
    if (options_.history != History::none) tables_.ensure(history_table(time));
    tables_.ensure_tasks(time);
    joined.check_database(identity_);
    auto reply = insert_into(joined.session(), all, time);
    for (const std::string& space : due_soon(tasks, reply)) joined.session().announce(space);
    joined.keep();
    return reply;
  } catch (const Refusal& refusal) {
    Error error = refusal.error;
    if (error.where.empty()) error.where = where("insert");
    return tl::make_unexpected(std::move(error));
  } catch (const LayoutChanged&) {
    return insert_within(transaction, tasks);
  } catch (const MissingTable& table) {
    return fail(Errc::unavailable, where("insert"), table.name + " is gone; begin the transaction again");
  } catch (const ServerError& error) {
    return tl::make_unexpected(to_error(error, where("insert"), Point::before_commit));
  }
}

Result<LoadReply> ServerStore::load(const LoadQuery& query) {
  return loading_.run(where("load"), [&](Session& session) { return due_tasks_.load(session, query, given_time()); });
}

Result<ClaimReply> ServerStore::claim(const ClaimRequest& request) {
  if (request.tickets.empty()) return read("claim", [&](Session& session) { return ClaimReply{now(session), {}}; });
  // Kept, although a claim could be made again: whoever made it outlives a crash of the server, and what the server has
  // forgotten would be given to a second one under the same version while the first one runs it.
  return changing_.run(where("claim"), Promise::kept, [&](Session& session, TimePoint now) {
    ClaimReply reply{now, {}};
    LiveRows rows{session, tables_, now};
    const auto id_of = [](const Ticket& ticket) { return ticket.id; };
    for_distinct(request.tickets, id_of, [&](std::span<const Ticket> part) {
      auto won = rows.each(part, id_of, [&](const std::string& table, std::span<const Ticket> tickets) {
        return session.claim(table, {tickets, request.owner, request.lease}, now);
      });
      std::move(won.begin(), won.end(), std::back_inserter(reply.won));
    });
    return reply;
  });
}

Result<Applied> ServerStore::settle(std::span<const Settlement> settlements) {
  return apply<Settlement>(
      changing_, "settle", settlements, [](const Settlement& settlement) { return settlement.ticket.id; },
      [this](Session& session, std::span<const Settlement> part, TimePoint now) {
        return sql::settle(session, tables_, options_.history, part, now);
      });
}

Result<Applied> ServerStore::renew(std::span<const Renewal> renewals) {
  const auto id_of = [](const Renewal& renewal) { return renewal.ticket.id; };
  return apply<Renewal>(
      controlling_, "renew", renewals, id_of, [&](Session& session, std::span<const Renewal> part, TimePoint now) {
        return LiveRows{session, tables_, now}.each(
            part, id_of,
            [&](const std::string& table, std::span<const Renewal> in_it) { return session.renew(table, in_it, now); });
      });
}

Result<Applied> ServerStore::revise(std::span<const Revision> revisions) {
  return apply<Revision>(
      operating_, "revise", revisions, [](const Revision& revision) { return revision.ticket.id; },
      [this](Session& session, std::span<const Revision> part, TimePoint now) {
        return sql::revise(session, tables_, part, now);
      });
}

Result<Applied> ServerStore::cancel(std::span<const TaskId> ids, Cancel how) {
  return apply<TaskId>(operating_, "cancel", ids, std::identity{},
                       [&](Session& session, std::span<const TaskId> part, TimePoint now) {
                         return sql::cancel(session, tables_, options_.history, part, how, now);
                       });
}

Result<std::vector<std::optional<TaskId>>> ServerStore::requeue(std::span<const TaskId> ids) {
  return operating_.run(where("requeue"), Promise::kept, [&](Session& session, TimePoint now) {
    std::map<TaskId, TaskRecord> finished;
    for (TaskRecord& record : Searches{session, tables_}.find_finished({ids.begin(), ids.end()})) {
      const TaskId id = record.info.id;
      finished.emplace(id, std::move(record));
    }
    LiveRows rows{session, tables_, now};
    const std::string history = history_for(tables_, now);
    std::vector<std::optional<TaskId>> started;
    for (const TaskId id : ids) {
      const auto found = finished.find(id);
      started.push_back(found == finished.end() ? std::nullopt
                                                : inserts_.start_again(rows, history, found->second, now));
    }
    return started;
  });
}

Result<std::vector<TaskRecord>> ServerStore::find(std::span<const TaskId> ids) {
  return read("find", [&](Session& session) {
    const TimePoint time = tables_.several() ? now(session) : TimePoint{};
    return Searches{session, tables_}.find(ids, time);
  });
}

Result<std::vector<TaskRecord>> ServerStore::list(const TaskQuery& query) {
  return read("list", [&](Session& session) { return Searches{session, tables_}.list(query); });
}

Result<std::int64_t> ServerStore::count(const TaskQuery& query) {
  return read("count", [&](Session& session) { return Searches{session, tables_}.count(query); });
}

Result<Counts> ServerStore::counts(std::string_view space) {
  return read("counts", [&](Session& session) {
    Sums sums;
    session.read_counts(space, sums);
    return counts_of(sums, space);
  });
}

// Looks first: where nothing is done, there is nothing. A power cut may take it: then what was added up is there to be
// added up again.
Result<bool> ServerStore::fold_counts() {
  const auto any = read("fold_counts", [](Session& session) { return session.has_sums(); });
  if (!any || !*any) return any;
  return operating_.run(where("fold_counts"), Promise::unneeded,
                        [](Session& session, TimePoint) { return fold_sums(session); });
}

Result<BeatReply> ServerStore::beat(const Beat& beat) {
  return beating_.run(where("beat"), [&](Session& session) { return session.beat(beat, given_time()); });
}

Result<BeatReply> ServerStore::members(std::string_view space) {
  return read("members", [&](Session& session) {
    const TimePoint at = now(session);
    return BeatReply{at, session.members(space, at)};
  });
}

Result<bool> ServerStore::leave(std::string_view space, std::string_view node) {
  return controlling_.run(where("leave"), Promise::unneeded,
                          [&](Session& session, TimePoint) { return session.leave(space, node); });
}

Result<bool> ServerStore::pause(std::string_view space, std::string_view handler, std::string_view why) {
  if (auto error = refuse_pause(space, handler, why, where("pause"))) return tl::make_unexpected(*std::move(error));
  return operating_
      .run(where("pause"), Promise::kept,
           [&](Session& session, TimePoint now) {
             return session.pause(space, {std::string{handler}, now, std::string{why}});
           })
      .and_then([&](Pausing pausing) { return answer_of(pausing, where("pause")); });
}

Result<bool> ServerStore::resume(std::string_view space, std::string_view handler) {
  return operating_.run(where("resume"), Promise::kept,
                        [&](Session& session, TimePoint) { return session.resume(space, handler); });
}

// Not on the connections of people's searches, which may take long: claims wait for it.
Result<PausedReply> ServerStore::paused(std::string_view space) {
  return loading_.run(where("paused"), [&](Session& session) { return session.paused(space, given_time()); });
}

Result<std::vector<TableInfo>> ServerStore::tables() {
  return read("tables", [&](Session& session) { return tables_.described(session, now(session)); });
}

Result<std::vector<SplitMove>> ServerStore::split(const SplitRequest& request) {
  try {
    Splitting splitting{queries_, tables_, operating_, where("split")};
    const Layout to = Layout::hash(request.tables);
    auto plan = splitting.plan(to);
    if (!request.only_plan) splitting.run(to, request.progress);
    return plan;
  } catch (const std::invalid_argument& error) {
    return fail(Errc::invalid_argument, where("split"), error.what());
  } catch (const ServerError& error) {
    return tl::make_unexpected(to_error(error, where("split"), Point::before_commit));
  }
}

Result<KeepReport> ServerStore::keep() {
  try {
    const TimePoint time = now(*queries_.take());
    return Housekeeping{queries_, tables_, operating_, options_.keep_months}.keep(time, where("keep"));
  } catch (const ServerError& error) {
    return tl::make_unexpected(to_error(error, where("keep"), Point::before_commit));
  }
}

// Of a batch that the server does not take as tasks, rows are taken one by one; the one that it does not take is
// refused.
Result<IntakeReply> ServerStore::take_in(const IntakeQuery& query, const Convert& convert) {
  auto reply = take_in_once(query, convert);
  const auto not_taken = [&] { return !reply && reply.error().code == Errc::invalid_argument; };
  if (!not_taken()) return reply;
  const IntakeQuery one{query.space, query.handlers, 1};
  std::int64_t tried = 0;
  reply = take_in_once(one, [&](InboxRow row) {
    tried = row.id;
    return convert(std::move(row));
  });
  if (!not_taken()) return reply;
  return take_in_once(one, [&, why = reply.error().detail](InboxRow row) -> tl::expected<NewTask, std::string> {
    if (row.id == tried) return tl::make_unexpected(why);
    return convert(std::move(row));
  });
}

// Looks first: most often there is nothing, and a transaction would be three round trips.
Result<IntakeReply> ServerStore::take_in_once(const IntakeQuery& query, const Convert& convert) {
  auto looked = read("take_in", [&](Session& session) {
    IntakeReply nothing{.now = now(session)};
    nothing.more = !query.handlers.empty() && !session.inbox({query.space, query.handlers, 1}).empty();
    return nothing;
  });
  if (!looked || !looked->more) return looked;
  return operating_.run(where("take_in"), Promise::kept, [&](Session& session, TimePoint now) {
    return sql::take_in(session, query, convert, now,
                        [&](std::span<const NewTask* const> tasks) { return insert_into(session, tasks, now).tasks; });
  });
}

void ServerStore::announce(const std::string& space) {
  if (options_.news) options_.news->announce(space);
}

std::unique_ptr<Listening> ServerStore::listen(const std::string& space, std::function<void()> wake) {
  return options_.news ? options_.news->listen(space, std::move(wake)) : nullptr;
}

}  // namespace

std::unique_ptr<Store> open_server_store(ServerOptions options) {
  validate(options);
  const std::string where = options.kind + ".open";
  try {
    return std::make_unique<ServerStore>(std::move(options));
  } catch (const ServerError& error) {
    throw StoreError{to_error(error, where, Point::before_commit)};
  }
}

}  // namespace easyretry::storage::sql
