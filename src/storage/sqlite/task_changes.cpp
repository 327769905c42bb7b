#include "storage/sqlite/task_changes.h"

#include "base/later.h"
#include "storage/record_columns.h"
#include "storage/sqlite/statements.h"
#include "task/task_key.h"

namespace easyretry::storage::sqlite {
namespace {

std::int64_t due(const Settlement& settlement, TimePoint now) {
  return to_ms(base::later(now, settlement.delay));
}

PreparedStatement& bind_ticket(PreparedStatement& statement, const Ticket& ticket) {
  return statement.bind(1, number(ticket.id)).bind(2, ticket.version);
}

PreparedStatement& bind_common(PreparedStatement& statement, const Settlement& settlement, TimePoint now) {
  return bind_ticket(statement, settlement.ticket).bind(3, to_ms(now)).bind_or_null(4, settlement.error);
}

}  // namespace

TaskChanges::TaskChanges(Connection& db, Calls& calls, HistoryTables& tables, History history, Sums& sums,
                         GrowingIds& ids, int total_shards)
    : db_(db),
      calls_(calls),
      tables_(tables),
      history_(history),
      sums_(sums),
      ids_(ids),
      total_shards_(total_shards),
      claim_(db.prepare(statements::claim)),
      renew_(db.prepare(statements::renew)),
      retry_(db.prepare(statements::retry)),
      advance_(db.prepare(statements::advance)),
      hand_back_(db.prepare(statements::hand_back)),
      hand_back_later_(db.prepare(statements::hand_back_later)),
      keep_result_(db.prepare(statements::keep_result)),
      forget_(db.prepare(statements::forget)),
      remove_(db.prepare(statements::remove)),
      names_(db.prepare(statements::names)),
      revise_(db.prepare(statements::revise)),
      end_and_tell_(db.prepare(statements::end_and_tell)),
      decided_(db.prepare(statements::decided)),
      mark_(db.prepare(statements::mark_requeued)) {}

TaskChanges::Won TaskChanges::claim(const ClaimRequest& request, TimePoint now) {
  Won won{.now = now, .tickets = {}};
  won.tickets.reserve(request.tickets.size());
  for (const Ticket& ticket : request.tickets) {
    if (claim_one(ticket, request, now)) won.tickets.push_back({ticket.id, ticket.version + 1});
  }
  return won;
}

bool TaskChanges::claim_one(const Ticket& ticket, const ClaimRequest& request, TimePoint now) {
  return bind_ticket(claim_, ticket)
             .bind(3, to_ms(now))
             .bind(4, request.owner)
             .bind(5, to_ms(base::later(now, request.lease)))
             .bind_or_null(6, request.begin ? std::optional{to_ms(now)} : std::nullopt)
             .run() == 1;
}

Applied TaskChanges::renew(std::span<const Renewal> renewals, TimePoint now) {
  Applied reply{.now = now, .applied = {}};
  for (const Renewal& renewal : renewals) {
    bind_ticket(renew_, renewal.ticket).bind(3, to_ms(now)).bind(4, to_ms(base::later(now, renewal.lease)));
    renewal.progress ? renew_.bind(5, *renewal.progress) : renew_.bind_null(5);
    reply.applied.push_back(renew_.run() == 1);
  }
  return reply;
}

Applied TaskChanges::settle(std::span<const Settlement> settlements, TimePoint now) {
  Applied reply{.now = now, .applied = {}};
  for (const Settlement& settlement : settlements) reply.applied.push_back(settle_one(settlement, now));
  return reply;
}

bool TaskChanges::settle_one(const Settlement& settlement, TimePoint now) {
  switch (settlement.kind) {
    case Settlement::Kind::finish: return finish(settlement, now);
    case Settlement::Kind::retry:
      return bind_common(retry_, settlement, now)
                 .bind(5, due(settlement, now))
                 .bind_or_null(6, settlement.attempt)
                 .run() == 1;
    case Settlement::Kind::advance:
      return bind_common(advance_, settlement, now)
                 .bind(5, due(settlement, now))
                 .bind(6, task::stored_name(settlement.stage))
                 .bind(7, task::stored_name(settlement.outcome))
                 .bind(8, settlement.result)
                 .bind_or_null(9, settlement.attempt)
                 .run() == 1;
    case Settlement::Kind::hand_back: return hand_back(settlement, now);
  }
  return false;
}

// Two statements: the usual one leaves every index alone.
bool TaskChanges::hand_back(const Settlement& settlement, TimePoint now) {
  if (settlement.delay <= Millis{0}) return bind_common(hand_back_, settlement, now).run() == 1;
  return bind_common(hand_back_later_, settlement, now).bind(5, due(settlement, now)).run() == 1;
}

bool TaskChanges::finish(const Settlement& settlement, TimePoint now) {
  if (!keeps(history_, settlement)) return forget(settlement, now);
  PreparedStatement& move = bind_common(tables_.finish(now), settlement, now);
  move.bind(5, task::stored_name(settlement.outcome)).bind_or_null(6, settlement.attempt);
  if (move.run() == 0) return false;
  keep_result(settlement.ticket.id, settlement, now);
  return remove(remove_.bind(1, number(settlement.ticket.id)), settlement, now);
}

template <class End>
void TaskChanges::keep_result(TaskId id, const End& end, TimePoint now) {
  if (!end.keeps_result()) return;
  keep_result_.bind(1, number(id)).bind(2, to_ms(base::later(now, end.keep_result))).bind(3, end.result).run();
}

bool TaskChanges::forget(const Settlement& settlement, TimePoint now) {
  const Ticket& ticket = settlement.ticket;
  if (!remove(bind_ticket(forget_, ticket), settlement, now)) return false;
  calls_.remove(ticket.id);
  return true;
}

Applied TaskChanges::revise(std::span<const Revision> revisions, TimePoint now) {
  Applied reply{.now = now, .applied = {}};
  for (const Revision& revision : revisions) reply.applied.push_back(revise_one(revision, now));
  return reply;
}

bool TaskChanges::revise_one(const Revision& revision, TimePoint now) {
  const auto due = revision.delay ? std::optional{to_ms(base::later(now, *revision.delay))} : std::nullopt;
  if (bind_ticket(revise_, revision.ticket).bind(3, to_ms(now)).bind_or_null(4, due).run() == 0) return false;
  if (revision.rules) calls_.update_rules(revision.ticket.id, *revision.rules);
  return true;
}

Applied TaskChanges::end(std::span<const Ending> endings, TimePoint now) {
  Applied reply{.now = now, .applied = {}};
  for (const Ending& ending : endings) {
    reply.applied.push_back(ending.tell ? end_and_tell(ending, now) : end_now(ending, now));
  }
  return reply;
}

bool TaskChanges::end_now(const Ending& ending, TimePoint now) {
  if (ending.outcome != Outcome::cancelled && is_decided_otherwise(ending)) return false;
  const bool kept = keeps(history_, ending.outcome);
  if (kept) {
    PreparedStatement& move = tables_.end(now).bind(1, number(ending.id)).bind(3, to_ms(now));
    move.bind_or_null(4, ending.error).bind(5, task::stored_name(ending.outcome)).run();
  }
  if (!remove(remove_.bind(1, number(ending.id)), ending.id, ending.outcome, now)) return false;
  kept ? keep_result(ending.id, ending, now) : calls_.remove(ending.id);
  return true;
}

bool TaskChanges::end_and_tell(const Ending& ending, TimePoint now) {
  return end_and_tell_.bind(1, number(ending.id))
             .bind(3, to_ms(now))
             .bind_or_null(4, ending.error)
             .bind(5, task::stored_name(ending.outcome))
             .bind(6, task::stored_name(task::callback_of(ending.outcome)))
             .bind(7, ending.result)
             .run() == 1;
}

bool TaskChanges::is_decided_otherwise(const Ending& ending) {
  const std::string_view same = ending.drop_callback ? task::stored_name(ending.outcome) : std::string_view{};
  decided_.bind(1, number(ending.id)).bind_or_null(2, same);
  Rows rows{decided_};
  return rows.next();
}

std::vector<std::optional<TaskId>> TaskChanges::requeue(std::span<const TaskId> ids,
                                                        std::optional<std::string_view> arguments,
                                                        std::optional<TaskClass> as, TimePoint now) {
  const std::vector<std::string> tables = history_tables(db_);
  std::vector<std::optional<TaskId>> started(ids.size());
  for (std::size_t i = 0; i < ids.size(); ++i) {
    for (auto table = tables.rbegin(); table != tables.rend() && !started[i]; ++table) {
      started[i] = requeue_from(*table, ids[i], arguments, as, now);
    }
  }
  return started;
}

std::optional<TaskId> TaskChanges::requeue_from(const std::string& table, TaskId id,
                                                std::optional<std::string_view> arguments, std::optional<TaskClass> as,
                                                TimePoint now) {
  enum Column : int { kNamespace, kKey, kBusinessId, kHandler };
  PreparedStatement ended = db_.prepare(statements::finished_identity.with({{"table", table}}));
  ended.bind(1, number(id)).bind(2, arguments ? 1 : 0);
  Rows found{ended};
  if (!found.next() || calls_.live(ended.text(kNamespace), ended.text(kKey))) return std::nullopt;
  const ShardId shard = task::shard_for(ended.text(kBusinessId), ended.text(kKey), total_shards_);
  const TaskId fresh = ids_.next(now, shard);
  PreparedStatement start = db_.prepare(statements::requeue_from.with({{"table", table}}));
  start.bind(1, number(id)).bind(2, number(fresh)).bind(3, to_ms(now)).bind(4, static_cast<std::int64_t>(shard));
  start.bind_or_null(5, as ? std::optional{task::stored_number(*as)} : std::nullopt);
  if (start.run() == 0) return std::nullopt;
  mark_.bind(1, number(id)).bind(2, number(fresh)).run();
  calls_.copy(id, fresh, arguments, now);
  sums_.stored(ended.text(kNamespace), ended.text(kHandler), now);
  return fresh;
}

bool TaskChanges::remove(PreparedStatement& removal, TaskId id, Outcome outcome, TimePoint now) {
  std::string name_space;
  std::string handler;
  {
    names_.bind(1, number(id));
    Rows rows{names_};
    if (!rows.next()) return false;
    name_space = names_.text(0);
    handler = names_.text(1);
  }
  if (removal.run() == 0) return false;
  sums_.ended(name_space, handler, outcome, now);
  return true;
}

// A settlement that says the handler saves a read: a twentieth of the cost of draining a queue.
bool TaskChanges::remove(PreparedStatement& removal, const Settlement& settlement, TimePoint now) {
  if (settlement.handler.empty()) return remove(removal, settlement.ticket.id, settlement.outcome, now);
  if (removal.run() == 0) return false;
  sums_.ended(settlement.name_space, settlement.handler, settlement.outcome, now);
  return true;
}

}  // namespace easyretry::storage::sqlite
