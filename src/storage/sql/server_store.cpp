#include "storage/sql/server_store.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <stdexcept>
#include <unordered_set>

#include "base/later.h"
#include "storage/group_commit.h"
#include "storage/history_table.h"
#include "storage/insert_checks.h"
#include "storage/sql/distinct.h"
#include "storage/sql/inserts.h"
#include "storage/sql/intake.h"
#include "storage/sql/joined_transaction.h"
#include "storage/sql/tables.h"
#include "storage/sql/transactions.h"
#include "task/task_id.h"
#include "task/transitions.h"

namespace easyretry::storage::sql {
namespace {

constexpr const char* kTable = "retry_task";
constexpr std::size_t kControlConnections = 1;
constexpr std::size_t kQueryConnections = 2;

// A month of history that is not there yet: made outside the transaction, which is then run again.
struct MissingMonth {
  std::string table;
};

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

// Alone, the others may work.
bool concerns_one(const Error& error) {
  return error.code == Errc::already_exists || error.code == Errc::invalid_argument;
}

void collect(const std::vector<DueRow>& rows, std::size_t limit, LoadReply& reply) {
  std::map<std::string_view, std::uint32_t> numbers;
  std::map<ShardId, std::size_t> counts;
  for (const DueRow& row : rows) {
    const auto [number, fresh] = numbers.try_emplace(row.handler, static_cast<std::uint32_t>(numbers.size()));
    if (fresh) reply.handlers.push_back(row.handler);
    reply.tasks.push_back({row.ticket, row.next_at, number->second});
    if (++counts[row.shard] == limit) reply.more.push_back({row.shard, row.next_at, row.ticket.id});
  }
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
  Result<Applied> cancel(std::span<const TaskId> ids, Cancel how) override;
  Result<std::vector<std::optional<TaskId>>> requeue(std::span<const TaskId> ids) override;
  Result<KeepReport> keep() override;
  Result<IntakeReply> take_in(const IntakeQuery& query, const Convert& convert) override;
  void announce(const std::string& space) override;
  std::unique_ptr<Listening> listen(const std::string& space, std::function<void()> wake) override;

 private:
  struct Submission;

  std::string where(const char* verb) const { return options_.kind + "." + verb; }
  TimePoint judged(TimePoint server) const { return options_.clock != nullptr ? options_.clock->now() : server; }
  TimePoint now(Session& session) const { return options_.clock != nullptr ? options_.clock->now() : session.now(); }
  std::string month(TimePoint now) const;
  void check_meta();

  // A transaction of a verb that may need a month of history.
  template <class Body>
  auto write(Transactions& transactions, const char* verb, Promise promise, Body body)
      -> Result<decltype(body(std::declval<Session&>(), TimePoint{}))>;
  // change(session, part, now) gives the ids that it applied to; no part names a task twice.
  template <class T, class IdOf, class Change>
  Result<Applied> apply(Transactions& transactions, const char* verb, Promise promise, std::span<const T> batch,
                        IdOf id_of, Change change);
  template <class Body>
  auto read_with(Pool& pool, const char* verb, Body body) -> Result<decltype(body(std::declval<Session&>()))>;
  template <class Body>
  auto read(const char* verb, Body body) {
    return read_with(queries_, verb, std::move(body));
  }

  InsertReply insert_into(Session& session, std::span<const NewTask* const> tasks, TimePoint now);
  Result<IntakeReply> take_in_once(const IntakeQuery& query, const Convert& convert);
  void answer_group(GroupCommit::Group group);
  void insert_group(GroupCommit::Group group);
  Result<InsertReply> insert_now(std::span<const NewTask* const> tasks);
  std::vector<TaskId> settle_part(Session& session, std::span<const Settlement> part, TimePoint now);
  std::vector<TaskId> cancel_part(Session& session, std::span<const TaskId> part, Cancel how, TimePoint now);
  std::vector<TaskRecord> find_finished(Session& session, std::set<TaskId> wanted);
  std::vector<Search> searches(Session& session, const TaskQuery& query) const;

  const ServerOptions options_;
  Pool control_;
  Pool data_;
  Pool queries_;
  Tables tables_;
  Transactions controlling_;
  Transactions changing_;
  Transactions operating_;
  Inserts inserts_;
  StoreInfo info_;
  std::string identity_;  // of the database: a connection that finds the same in it is to the same one
  GroupCommit group_;
};

// One caller's insert.
struct ServerStore::Submission : GroupCommit::Entry {
  explicit Submission(std::span<const NewTask> wanted) : Entry(wanted.size(), Answered::at_commit), tasks(wanted) {}
  const std::span<const NewTask> tasks;
  Result<InsertReply> reply = InsertReply{};
};

ServerStore::ServerStore(ServerOptions options)
    : options_(std::move(options)),
      control_(options_.connect, kControlConnections),
      data_(options_.connect, options_.connections),
      queries_(options_.connect, kQueryConnections),
      tables_(queries_),
      controlling_(control_),
      changing_(data_),
      operating_(queries_),
      inserts_(options_.kind, options_.total_shards),
      group_({.commit = [this](GroupCommit::Group group) { answer_group(group); },
              .between = [] {},
              .harden = [](GroupCommit::Group) {}}) {
  check_meta();
}

void ServerStore::check_meta() {
  const auto session = queries_.take();
  session->create_meta();
  const std::string shards = session->agree("total_shards", std::to_string(options_.total_shards));
  if (shards != std::to_string(options_.total_shards)) {
    throw StoreError{{Errc::invalid_argument, where("open"),
                      "the database was made for " + shards + " shards, this instance is configured for " +
                          std::to_string(options_.total_shards) + "; set shards=" + shards}};
  }
  session->create_tasks(kTable);
  session->create_inbox();
  identity_ = session->agree("identity", new_identity());
  info_ = {.url = options_.url,
           .total_shards = options_.total_shards,
           .durability = session->durability(),
           .shared = true,
           .inbox = true};
}

template <class Body>
auto ServerStore::write(Transactions& transactions, const char* verb, Promise promise, Body body)
    -> Result<decltype(body(std::declval<Session&>(), TimePoint{}))> {
  while (true) {
    std::string missing;
    auto result = transactions.run(where(verb), promise, [&](Session& session, TimePoint server) {
      try {
        return body(session, judged(server));
      } catch (const MissingMonth& month) {
        missing = month.table;
        throw ServerError{Trouble::no_table, month.table};
      } catch (const ServerError& error) {
        if (error.trouble() == Trouble::no_table) tables_.forget();
        throw;
      }
    });
    if (missing.empty()) return result;
    try {
      tables_.ensure_history(missing);
    } catch (const ServerError& error) {
      return tl::make_unexpected(to_error(error, where(verb), Point::before_commit));
    }
  }
}

template <class T, class IdOf, class Change>
Result<Applied> ServerStore::apply(Transactions& transactions, const char* verb, Promise promise,
                                   std::span<const T> batch, IdOf id_of, Change change) {
  if (batch.empty()) return read(verb, [&](Session& session) { return Applied{now(session), {}}; });
  return write(transactions, verb, promise, [&](Session& session, TimePoint now) {
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

template <class Body>
auto ServerStore::read_with(Pool& pool, const char* verb, Body body)
    -> Result<decltype(body(std::declval<Session&>()))> {
  constexpr int kTries = 6;  // more than a pool has sessions: those that a restart of the server broke are used up
  for (int tries = 1;; ++tries) {
    try {
      const auto session = pool.take();
      return body(*session);
    } catch (const ServerError& error) {
      const bool stale = error.trouble() == Trouble::gone || error.trouble() == Trouble::again;
      if (stale && tries < kTries) continue;
      return tl::make_unexpected(to_error(error, where(verb), Point::before_commit));
    } catch (const std::exception& error) {
      return fail(Errc::unavailable, where(verb), error.what());
    }
  }
}

// The table for what ends now.
std::string ServerStore::month(TimePoint now) const {
  std::string name = history_table(now);
  if (!tables_.knows(name)) throw MissingMonth{name};
  return name;
}

Result<InsertReply> ServerStore::insert(std::span<const NewTask> tasks) {
  if (auto error = refuse_batch(tasks, where("insert"))) return tl::make_unexpected(*std::move(error));
  if (tasks.empty()) return read("insert", [&](Session& session) { return InsertReply{now(session), {}}; });
  Submission submission{tasks};
  group_.submit(submission);
  return std::move(submission.reply);
}

// Nobody may be left without an answer.
void ServerStore::answer_group(GroupCommit::Group group) {
  try {
    insert_group(group);
  } catch (const std::exception& error) {  // no memory, say; whether it came about is not known
    for (GroupCommit::Entry* entry : group) {
      static_cast<Submission&>(*entry).reply = fail(Errc::in_doubt, where("insert"), error.what());
    }
  }
}

// One transaction for all; where it fails for what one of them brought, each gets its own.
void ServerStore::insert_group(GroupCommit::Group group) {
  std::vector<const NewTask*> tasks;
  for (GroupCommit::Entry* entry : group) {
    for (const NewTask& task : static_cast<Submission&>(*entry).tasks) tasks.push_back(&task);
  }
  auto together = insert_now(tasks);
  if (!together && group.size() > 1 && concerns_one(together.error())) {
    for (GroupCommit::Entry* const& entry : group) insert_group({&entry, 1});
    return;
  }
  std::size_t from = 0;
  for (GroupCommit::Entry* entry : group) {
    auto& submission = static_cast<Submission&>(*entry);
    if (!together) {
      submission.reply = tl::make_unexpected(together.error());
      continue;
    }
    const auto first = together->tasks.begin() + static_cast<std::ptrdiff_t>(from);
    from += submission.tasks.size();
    submission.reply = InsertReply{together->now, {first, together->tasks.begin() + static_cast<std::ptrdiff_t>(from)}};
  }
}

Result<InsertReply> ServerStore::insert_now(std::span<const NewTask* const> tasks) {
  return write(changing_, "insert", Promise::kept,
               [&](Session& session, TimePoint now) { return insert_into(session, tasks, now); });
}

InsertReply ServerStore::insert_into(Session& session, std::span<const NewTask* const> tasks, TimePoint now) {
  const std::string history = options_.history == History::none ? std::string{} : month(now);
  return {now, inserts_.insert(session, kTable, history, tasks, now)};
}

Result<InsertReply> ServerStore::insert_within(const Transaction& transaction, std::span<const NewTask> tasks) {
  if (!options_.join || transaction.kind != options_.joins) return Store::insert_within(transaction, tasks);
  if (auto error = refuse_batch(tasks, where("insert"))) return tl::make_unexpected(*std::move(error));
  std::vector<const NewTask*> all;
  for (const NewTask& task : tasks) all.push_back(&task);
  try {
    JoinedTransaction joined{options_.join(transaction.connection), identity_};
    const TimePoint time = now(joined.session());
    if (options_.history != History::none) tables_.ensure_history(history_table(time));
    auto reply = insert_into(joined.session(), all, time);
    for (const std::string& space : due_soon(tasks, reply)) joined.session().announce(space);
    joined.keep();
    return reply;
  } catch (const Refusal& refusal) {
    Error error = refusal.error;
    if (error.where.empty()) error.where = where("insert");
    return tl::make_unexpected(std::move(error));
  } catch (const ServerError& error) {
    return tl::make_unexpected(to_error(error, where("insert"), Point::before_commit));
  }
}

Result<LoadReply> ServerStore::load(const LoadQuery& query) {
  return read_with(data_, "load", [&](Session& session) {
    LoadReply reply;
    reply.now = now(session);
    if (query.limit == 0 || query.from.empty()) return reply;
    const auto rows =
        session.due(kTable, {query.space, query.from, reply.now, base::later(reply.now, query.ahead), query.limit});
    collect(rows, query.limit, reply);
    return reply;
  });
}

Result<ClaimReply> ServerStore::claim(const ClaimRequest& request) {
  if (request.tickets.empty()) return read("claim", [&](Session& session) { return ClaimReply{now(session), {}}; });
  // Kept, although a claim could be made again: whoever made it outlives a crash of the server, and what the server has
  // forgotten would be given to a second one under the same version while the first one runs it.
  return write(changing_, "claim", Promise::kept, [&](Session& session, TimePoint now) {
    ClaimReply reply{now, {}};
    for_distinct(
        request.tickets, [](const Ticket& ticket) { return ticket.id; },
        [&](std::span<const Ticket> part) {
          auto won = session.claim(kTable, {part, request.owner, request.lease}, now);
          std::move(won.begin(), won.end(), std::back_inserter(reply.won));
        });
    return reply;
  });
}

Result<Applied> ServerStore::settle(std::span<const Settlement> settlements) {
  return apply<Settlement>(
      changing_, "settle", Promise::kept, settlements,
      [](const Settlement& settlement) { return settlement.ticket.id; },
      [this](Session& session, std::span<const Settlement> part, TimePoint now) {
        return settle_part(session, part, now);
      });
}

std::vector<TaskId> ServerStore::settle_part(Session& session, std::span<const Settlement> part, TimePoint now) {
  std::vector<Settlement> kept, forgotten, rescheduled;
  for (const Settlement& settlement : part) {
    if (settlement.kind != Settlement::Kind::finish) {
      rescheduled.push_back(settlement);
    } else if (keeps(options_.history, settlement.outcome)) {
      kept.push_back(settlement);
    } else {
      forgotten.push_back(settlement);
    }
  }
  if (kept.size() != part.size() && forgotten.size() != part.size() && rescheduled.size() != part.size()) {
    std::vector<TaskId> ids;
    for (const Settlement& settlement : part) ids.push_back(settlement.ticket.id);
    std::sort(ids.begin(), ids.end());
    session.hold(kTable, ids);
  }
  std::vector<TaskId> applied;
  const auto add = [&](const std::vector<TaskId>& ids) { applied.insert(applied.end(), ids.begin(), ids.end()); };
  if (!kept.empty()) add(session.finish(kTable, month(now), kept, now));
  if (!forgotten.empty()) add(session.finish(kTable, {}, forgotten, now));
  if (!rescheduled.empty()) add(session.reschedule(kTable, rescheduled, now));
  return applied;
}

Result<Applied> ServerStore::renew(std::span<const Renewal> renewals) {
  return apply<Renewal>(
      controlling_, "renew", Promise::kept, renewals, [](const Renewal& renewal) { return renewal.ticket.id; },
      [](Session& session, std::span<const Renewal> part, TimePoint now) { return session.renew(kTable, part, now); });
}

Result<Applied> ServerStore::cancel(std::span<const TaskId> ids, Cancel how) {
  return apply<TaskId>(
      operating_, "cancel", Promise::kept, ids, [](TaskId id) { return id; },
      [&](Session& session, std::span<const TaskId> part, TimePoint now) {
        return cancel_part(session, part, how, now);
      });
}

std::vector<TaskId> ServerStore::cancel_part(Session& session, std::span<const TaskId> part, Cancel how,
                                             TimePoint now) {
  std::vector<TaskId> applied, gone;
  std::vector<TaskRecord> told, kept;
  for (TaskRecord& record : session.lock(kTable, part)) {
    const auto event = task::cancel_event(record, how == Cancel::tell);
    if (!event) continue;
    task::apply_cancel(record, *event, now);
    applied.push_back(record.info.id);
    if (record.info.state != TaskState::finished) {
      told.push_back(std::move(record));
      continue;
    }
    gone.push_back(record.info.id);
    if (keeps(options_.history, Outcome::cancelled)) kept.push_back(std::move(record));
  }
  if (!kept.empty()) session.insert_history(month(now), kept);
  if (!gone.empty()) session.remove(kTable, gone);
  if (!told.empty()) session.update(kTable, told, now);
  return applied;
}

Result<std::vector<std::optional<TaskId>>> ServerStore::requeue(std::span<const TaskId> ids) {
  return write(operating_, "requeue", Promise::kept, [&](Session& session, TimePoint now) {
    std::map<TaskId, TaskRecord> finished;
    for (TaskRecord& record : find_finished(session, {ids.begin(), ids.end()})) {
      const TaskId id = record.info.id;
      finished.emplace(id, std::move(record));
    }
    std::vector<std::optional<TaskId>> started;
    for (const TaskId id : ids) {
      const auto found = finished.find(id);
      started.push_back(found == finished.end()
                            ? std::nullopt
                            : inserts_.start_again(session, kTable, month(now), found->second, now));
    }
    return started;
  });
}

// Months newest first: what is asked for is seldom old. Takes what it finds out of `wanted`.
std::vector<TaskRecord> ServerStore::find_finished(Session& session, std::set<TaskId> wanted) {
  std::vector<TaskRecord> found;
  if (wanted.empty()) return found;
  for (const std::string& table : tables_.histories(session)) {
    const std::vector<TaskId> ids{wanted.begin(), wanted.end()};
    for (TaskRecord& record : session.find(table, true, ids)) {
      wanted.erase(record.info.id);
      found.push_back(std::move(record));
    }
    if (wanted.empty()) break;
  }
  return found;
}

// Live first: a task that ends meanwhile is then met in history.
Result<std::vector<TaskRecord>> ServerStore::find(std::span<const TaskId> ids) {
  return read("find", [&](Session& session) {
    std::set<TaskId> wanted{ids.begin(), ids.end()};
    if (wanted.empty()) return std::vector<TaskRecord>{};
    auto found = session.find(kTable, false, std::vector<TaskId>{wanted.begin(), wanted.end()});
    for (const TaskRecord& record : found) wanted.erase(record.info.id);
    auto finished = find_finished(session, std::move(wanted));
    std::move(finished.begin(), finished.end(), std::back_inserter(found));
    return found;
  });
}

std::vector<Search> ServerStore::searches(Session& session, const TaskQuery& query) const {
  if (!query.finished) return {{query, kTable, false}};
  std::vector<Search> searches;
  for (const std::string& table : tables_.histories(session)) {
    if (overlaps(*month_of_history_table(table), query.finished_at)) searches.push_back({query, table, true});
  }
  return searches;
}

Result<std::vector<TaskRecord>> ServerStore::list(const TaskQuery& query) {
  return read("list", [&](Session& session) {
    std::vector<TaskRecord> records;
    if (query.limit == 0) return records;
    for (const Search& search : searches(session, query)) {
      auto page = session.page(search);
      std::move(page.begin(), page.end(), std::back_inserter(records));
    }
    std::sort(records.begin(), records.end(),
              [](const TaskRecord& a, const TaskRecord& b) { return a.info.id < b.info.id; });
    if (records.size() > query.limit) {
      records.erase(records.begin() + static_cast<std::ptrdiff_t>(query.limit), records.end());
    }
    return records;
  });
}

Result<std::int64_t> ServerStore::count(const TaskQuery& query) {
  return read("count", [&](Session& session) {
    std::int64_t total = 0;
    for (const Search& search : searches(session, query)) total += session.count(search);
    return total;
  });
}

// Next month's table is made before it is needed; months older than keep_months go.
Result<KeepReport> ServerStore::keep() {
  return read("keep", [&](Session& session) {
    KeepReport report;
    const Period month = period_at(PeriodLength::month, now(session));
    session.create_history(history_table(begin_of(next(month))));
    for (const std::string& table : tables_.histories(session)) {
      if (month_of_history_table(table)->index > month.index - options_.keep_months) continue;
      session.drop(table);
      report.dropped_tables.push_back(table);
    }
    if (!report.dropped_tables.empty()) tables_.forget();
    return report;
  });
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
  return write(operating_, "take_in", Promise::kept, [&](Session& session, TimePoint now) {
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
