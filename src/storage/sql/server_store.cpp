#include "storage/sql/server_store.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <stdexcept>
#include <unordered_set>

#include "storage/checks.h"
#include "storage/sql/agreement.h"
#include "storage/sql/batch_changes.h"
#include "storage/sql/joined_transaction.h"
#include "storage/sql/migration.h"
#include "storage/sql/searches.h"
#include "storage/sql/task_changes.h"
#include "task/task_id.h"

namespace easyretry::storage::sql {
namespace {

constexpr std::size_t kControlConnections = 1;
constexpr std::size_t kQueryConnections = 2;

std::string new_identity() {
  base::Random random{base::random_seed()};
  return std::to_string(random.next()) + std::to_string(random.next());
}

std::vector<TaskId> ids_of(std::span<const Ticket> tickets) {
  std::vector<TaskId> ids;
  for (const Ticket& ticket : tickets) ids.push_back(ticket.id);
  return ids;
}

// The longest window (EngineOptions::window): tasks that are due later are found by every instance's ordinary scans.
constexpr Millis kLongestWindow{std::chrono::minutes{10}};

std::set<std::string> due_soon(std::span<const NewTask> tasks, const InsertReply& reply) {
  std::set<std::string> spaces;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    const Inserted& stored = reply.tasks[i];
    if (stored.created && stored.next_at <= reply.now + kLongestWindow) spaces.insert(tasks[i].space);
  }
  return spaces;
}

}  // namespace

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
      insert_transactions_(options_, changing_, tables_, shard_watch_, inserts_),
      group_(where("insert"), [&inserts = insert_transactions_](std::span<const NewTask* const> tasks, Locks locks) {
        return inserts.run(tasks, locks);
      }) {
  set_up();
}

void ServerStore::set_up() {
  const auto session = queries_.take();
  check_schema(session->schema(), options_);
  agree(*session, options_, tables_);
  if (tables_.several()) session->schema().create_keys();
  tables_.ensure_tasks(now(*session));
  tables_.histories(*session);  // completes tables of an earlier release, or throws here why it cannot
  identity_ = session->schema().agree("identity", new_identity());
  info_ = {.url = options_.url,
           .total_shards = options_.total_shards,
           .durability = session->schema().durability(),
           .shared = true,
           .inbox = true,
           .folds = true,
           .reads_run_ahead = session->schema().reads_run_ahead()};
}

template <class T, class IdOf, class Change>
auto ServerStore::changes(Writes& writes, const char* verb, IdOf id_of, Change change) {
  return BatchChanges<T, IdOf, Change>{writes, tables_, where(verb), id_of, std::move(change)};
}

Result<Applied> ServerStore::nothing_applied(const char* verb) {
  return read(verb, [&](Session& session) { return Applied{now(session), {}}; });
}

InsertResult ServerStore::insert(std::span<const NewTask> tasks) {
  if (auto error = refuse_batch(tasks, where("insert"))) return tl::make_unexpected(*std::move(error));
  if (tasks.empty()) return read("insert", [&](Session& session) { return InsertReply{now(session), {}}; });
  return group_.insert(tasks);
}

Result<InsertReply> ServerStore::insert_within(const Transaction& transaction, std::span<const NewTask> tasks) {
  if (!options_.join || transaction.kind != options_.joins) return Store::insert_within(transaction, tasks);
  if (auto error = refuse_batch(tasks, where("insert"))) return tl::make_unexpected(*std::move(error));
  const auto all = server::pointers(tasks);
  try {
    JoinedTransaction joined{options_.join(transaction.connection)};
    const TimePoint time = now(joined.session());
    // On another connection: creating a table would commit the application's transaction.
    if (options_.history != History::none) tables_.ensure(history_table(time));
    tables_.ensure_tasks(time);
    joined.check_database(identity_);
    auto reply = insert_transactions_.inside(joined.session(), all, time);
    for (const std::string& space : due_soon(tasks, reply)) joined.session().ledger().announce(space);
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
  if (!claim_caution_.advised()) {
    auto reply = claim(request, Locks::told);
    if (reply || reply.error().code != Errc::conflict) return reply;
    claim_caution_.advise();
  }
  auto reply = claim(request, Locks::told_at_once);
  if (!reply && reply.error().code == Errc::conflict) reply.error().code = Errc::unavailable;
  return reply;
}

Result<ClaimReply> ServerStore::claim(const ClaimRequest& request, Locks locks) {
  // Kept, although a claim could be repeated: an instance outlives a crash of the server. If the server forgot the
  // claim, another instance would get the task under the same version while the first one still runs it.
  return changing_.run(where("claim"), Promise::kept, locks, [&](Session& session, TimePoint now) {
    ClaimReply reply{now, {}};
    LiveRows rows{session, tables_, now};
    const auto id_of = [](const Ticket& ticket) { return ticket.id; };
    for_distinct(request.tickets, id_of, [&](std::span<const Ticket> part) {
      std::vector<Ticket> free;
      if (locks == Locks::told_at_once) {
        const auto busy = hold_all_but_busy(session, tables_, ids_of(part), now);
        if (!busy.empty()) claim_caution_.advise();
        std::copy_if(part.begin(), part.end(), std::back_inserter(free),
                     [&](const Ticket& ticket) { return !busy.contains(ticket.id); });
        part = free;
      }
      auto won = rows.each(part, id_of, [&](const std::string& table, std::span<const Ticket> tickets) {
        return session.claim(table, {tickets, request.owner, request.lease, request.begin}, now);
      });
      std::move(won.begin(), won.end(), std::back_inserter(reply.won));
    });
    return reply;
  });
}

Result<Applied> ServerStore::settle(std::span<const Settlement> settlements) {
  if (settlements.empty()) return nothing_applied("settle");
  return changes<Settlement>(
             changing_, "settle", [](const Settlement& settlement) { return settlement.ticket.id; },
             [this](Session& session, std::span<const Settlement> part, TimePoint now) {
               return sql::settle(session, tables_, options_.history, part, now);
             })
      .around_locks(settlements, settle_caution_);
}

Result<Applied> ServerStore::renew(std::span<const Renewal> renewals) {
  if (renewals.empty()) return nothing_applied("renew");
  const auto id_of = [](const Renewal& renewal) { return renewal.ticket.id; };
  return changes<Renewal>(controlling_, "renew", id_of,
                          [&](Session& session, std::span<const Renewal> part, TimePoint now) {
                            return LiveRows{session, tables_, now}.each(
                                part, id_of, [&](const std::string& table, std::span<const Renewal> in_it) {
                                  return session.renew(table, in_it, now);
                                });
                          })
      .around_locks(renewals, renew_caution_);
}

Result<Applied> ServerStore::revise(std::span<const Revision> revisions) {
  if (revisions.empty()) return nothing_applied("revise");
  return changes<Revision>(
             operating_, "revise", [](const Revision& revision) { return revision.ticket.id; },
             [this](Session& session, std::span<const Revision> part, TimePoint now) {
               return sql::revise(session, tables_, part, now);
             })
      .together(revisions, Locks::polled);
}

Result<Applied> ServerStore::cancel(std::span<const TaskId> ids, Cancel how) {
  if (ids.empty()) return nothing_applied("cancel");
  return changes<TaskId>(operating_, "cancel", std::identity{},
                         [&](Session& session, std::span<const TaskId> part, TimePoint now) {
                           return sql::cancel(session, tables_, options_.history, part, how, now);
                         })
      .together(ids, Locks::polled);
}

Result<std::vector<std::optional<TaskId>>> ServerStore::requeue(std::span<const TaskId> ids) {
  return operating_.run(where("requeue"), Promise::kept, Locks::polled, [&](Session& session, TimePoint now) {
    return Requeues{session, tables_, inserts_, now}.start_again(ids);
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
    session.ledger().read_counts(space, sums);
    return counts_of(sums, space);
  });
}

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
