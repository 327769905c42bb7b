#include "storage/sql/server_store.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <tuple>

#include "base/later.h"
#include "storage/checks.h"
#include "storage/sql/batch_changes.h"
#include "storage/sql/session.h"
#include "storage/sql/transactions.h"

namespace easyretry::storage::sql {
namespace {

// One batch inside the application's transaction. If the batch fails, it alone is rolled back.
class JoinedTransaction {
 public:
  // Throws Refusal if the connection is not inside a transaction.
  explicit JoinedTransaction(std::unique_ptr<Session> session);
  ~JoinedTransaction();
  JoinedTransaction(const JoinedTransaction&) = delete;
  JoinedTransaction& operator=(const JoinedTransaction&) = delete;

  Session& session() { return *session_; }
  // Throws Refusal if the connection is not to the database with this identity. This reads a table for the first time:
  // on some servers the transaction then sees no table that is created later.
  void check_database(const std::string& identity);
  void keep();

 private:
  const std::unique_ptr<Session> session_;
  bool kept_ = false;
};

[[noreturn]] void refuse(std::string why) {
  throw Refusal{{Errc::invalid_argument, {}, std::move(why)}};
}

JoinedTransaction::JoinedTransaction(std::unique_ptr<Session> session) : session_(std::move(session)) {
  if (!session_->in_transaction()) refuse("the connection is not inside a transaction; run BEGIN on it first");
  session_->run("SAVEPOINT easyretry_batch");
}

void JoinedTransaction::check_database(const std::string& identity) {
  std::optional<std::string> theirs;
  try {
    theirs = session_->schema().meta("identity");
  } catch (const ServerError& error) {
    if (error.trouble() != Trouble::no_table) throw;
  }
  if (theirs == identity) return;
  refuse(
      "the connection is to another database than the engine's; a transaction spans one database, so keep your tables "
      "there too, or use submit without a transaction");
}

JoinedTransaction::~JoinedTransaction() {
  if (kept_ || session_->broken()) return;
  try {
    session_->run("ROLLBACK TO SAVEPOINT easyretry_batch");
  } catch (const ServerError&) {
    // The failure that led here has ended the whole transaction, and the application gets that failure.
  }
}

void JoinedTransaction::keep() {
  session_->ledger().write_sums();
  session_->run("RELEASE SAVEPOINT easyretry_batch");
  kept_ = true;
}

constexpr std::size_t kControlConnections = 1;
constexpr std::size_t kQueryConnections = 2;

std::vector<TaskId> ids_of(std::span<const Ticket> tickets) {
  std::vector<TaskId> ids;
  for (const Ticket& ticket : tickets) ids.push_back(ticket.id);
  return ids;
}

// The longest window (EngineOptions::window). The ordinary scans of every instance find tasks that are due later.
constexpr Millis kLongestWindow{std::chrono::minutes{10}};

std::set<std::string> due_soon(std::span<const NewTask> tasks, const InsertReply& reply) {
  std::set<std::string> namespaces;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    const Inserted& stored = reply.tasks[i];
    if (stored.created && stored.next_at <= reply.now + kLongestWindow) namespaces.insert(tasks[i].name_space);
  }
  return namespaces;
}

// Adds the rows to the reply, ordered by (shard, due time, id), with each handler's name once.
void collect(std::vector<DueRow> rows, std::size_t limit, LoadReply& reply) {
  std::map<ShardId, std::size_t> counts;
  for (const DueRow& row : rows) {
    if (++counts[row.shard] == limit) reply.more.push_back({row.shard, row.place, row.ticket.id});
  }
  std::ranges::sort(rows, {}, [](const DueRow& row) { return std::tie(row.shard, row.next_at, row.ticket.id); });
  std::map<std::string_view, std::uint32_t> numbers;
  for (const DueRow& row : rows) {
    const auto [number, fresh] = numbers.try_emplace(row.handler, static_cast<std::uint32_t>(numbers.size()));
    if (fresh) reply.handlers.push_back(row.handler);
    reply.tasks.push_back({row.ticket, row.next_at, number->second, row.suspicion, row.task_class, row.retried});
  }
}

}  // namespace

ServerStore::ServerStore(ServerOptions options)
    : options_(std::move(options)),
      control_(options_.connect, kControlConnections),
      data_(options_.connect, options_.connections),
      queries_(options_.connect, kQueryConnections),
      tables_(queries_, TableRouter{options_.layout, options_.total_shards, options_.window}),
      query_reads_(queries_, tables_),
      data_reads_(data_, tables_),
      control_reads_(control_, tables_),
      control_writes_(control_, tables_, options_.clock),
      data_writes_(data_, tables_, options_.clock),
      query_writes_(queries_, tables_, options_.clock),
      inserts_(options_.kind, options_.total_shards),
      shard_watch_(options_, inserts_),
      insert_transactions_(options_, data_writes_, tables_, shard_watch_, inserts_),
      group_(where("insert"), [&inserts = insert_transactions_](std::span<const NewTask* const> tasks, Locks locks) {
        return inserts.run(tasks, locks);
      }) {
  set_up();
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
    for (const std::string& name_space : due_soon(tasks, reply)) joined.session().ledger().announce(name_space);
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

// One statement if there is one table of tasks: even an idle instance runs it every few seconds. With several tables,
// one statement per table and one before them.
Result<LoadReply> ServerStore::load(const LoadQuery& query) {
  return data_reads_.run(where("load"), [&](Session& session) {
    LoadReply reply;
    if (query.limit == 0 || query.from.empty()) {
      reply.now = now(session);
      return reply;
    }
    DuePage page = tables_.several() ? load_from_several_tables(session, query)
                                     : session.load(tables_.router().name({}), query, given_time());
    check_shards(page.glance);
    reply.now = page.glance.now;
    reply.inbox = page.glance.inbox;
    collect(std::move(page.rows), query.limit, reply);
    return reply;
  });
}

// The tables depend on the time, and on a layout that may have changed.
DuePage ServerStore::load_from_several_tables(Session& session, const LoadQuery& query) {
  const std::uint64_t asked = tables_.as_of();
  Glance glance = session.ledger().glance(query, given_time());
  check_shards(glance);
  if (tables_.can_be_split() && glance.layout) tables_.observe(*glance.layout, asked);
  const DueQuery due{query.name_space, query.from, glance.now, base::later(glance.now, query.ahead), query.limit};
  auto rows = LiveRows{session, tables_, glance.now}.due(due);
  return {std::move(glance), std::move(rows)};
}

void ServerStore::check_shards(const Glance& glance) {
  if (const auto why = shard_watch_.observe(glance.total_shards))
    throw Refusal{{Errc::unavailable, where("load"), *why}};
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
  // Promise::kept, although a claim could be repeated: an instance outlives a crash of the server. If the server forgot
  // the claim, another instance would get the task under the same version while the first one still runs it.
  return data_writes_.run(where("claim"), Promise::kept, locks, [&](Session& session, TimePoint now) {
    ClaimReply reply{now, {}};
    LiveRows rows{session, tables_, now};
    const auto id_of = [](const Ticket& ticket) { return ticket.id; };
    for_distinct(request.tickets, id_of, [&](std::span<const Ticket> part) {
      std::vector<Ticket> free;
      if (locks == Locks::told_at_once) {
        const auto busy = rows.hold_all_but_busy(ids_of(part));
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
             data_writes_, "settle", [](const Settlement& settlement) { return settlement.ticket.id; },
             [this](Session& session, std::span<const Settlement> part, TimePoint now) {
               return LiveRows{session, tables_, now}.settle(part, options_.history);
             })
      .around_locks(settlements, settle_caution_);
}

Result<Applied> ServerStore::renew(std::span<const Renewal> renewals) {
  if (renewals.empty()) return nothing_applied("renew");
  const auto id_of = [](const Renewal& renewal) { return renewal.ticket.id; };
  return changes<Renewal>(control_writes_, "renew", id_of,
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
             query_writes_, "revise", [](const Revision& revision) { return revision.ticket.id; },
             [this](Session& session, std::span<const Revision> part, TimePoint now) {
               return LiveRows{session, tables_, now}.revise(part);
             })
      .together(revisions, Locks::polled);
}

Result<Applied> ServerStore::end(std::span<const Ending> endings) {
  if (endings.empty()) return nothing_applied("end");
  return changes<Ending>(
             query_writes_, "end", [](const Ending& ending) { return ending.id; },
             [&](Session& session, std::span<const Ending> part, TimePoint now) {
               return LiveRows{session, tables_, now}.end(part, options_.history);
             })
      .together(endings, Locks::polled);
}

Result<std::vector<std::optional<TaskId>>> ServerStore::requeue(std::span<const TaskId> ids,
                                                                std::optional<TaskClass> as) {
  return query_writes_.run(where("requeue"), Promise::kept, Locks::polled, [&](Session& session, TimePoint now) {
    return Requeues{session, tables_, inserts_, now}.start_again(ids, {}, as);
  });
}

Result<std::optional<TaskId>> ServerStore::requeue_with(TaskId id, std::string_view arguments,
                                                        std::optional<TaskClass> as) {
  return query_writes_.run(where("requeue"), Promise::kept, Locks::polled, [&](Session& session, TimePoint now) {
    return Requeues{session, tables_, inserts_, now}.start_again({&id, 1}, arguments, as).front();
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
