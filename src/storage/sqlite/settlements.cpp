#include "storage/sqlite/settlements.h"

#include "base/later.h"
#include "storage/sqlite/columns.h"
#include "storage/sqlite/statements.h"

namespace easyretry::storage::sqlite {
namespace {

std::int64_t due(const Settlement& settlement, TimePoint now) {
  return to_ms(base::later(now, settlement.delay));
}

Statement& bind_ticket(Statement& statement, const Ticket& ticket) {
  return statement.bind(1, number(ticket.id)).bind(2, ticket.version);
}

Statement& bind_common(Statement& statement, const Settlement& settlement, TimePoint now) {
  return bind_ticket(statement, settlement.ticket).bind(3, to_ms(now)).bind_or_null(4, settlement.error);
}

}  // namespace

Settlements::Settlements(Connection& db, Calls& calls, HistoryTables& tables, History history, Sums& sums)
    : calls_(calls),
      tables_(tables),
      history_(history),
      removals_(db, sums),
      retry_(db.prepare(sql::retry())),
      advance_(db.prepare(sql::advance())),
      hand_back_(db.prepare(sql::hand_back())),
      hand_back_later_(db.prepare(sql::hand_back_later())),
      forget_(db.prepare(sql::forget())),
      remove_(db.prepare(sql::remove())) {}

Applied Settlements::settle(std::span<const Settlement> settlements, TimePoint now) {
  Applied reply{.now = now, .applied = {}};
  for (const Settlement& settlement : settlements) reply.applied.push_back(settle_one(settlement, now));
  return reply;
}

bool Settlements::settle_one(const Settlement& settlement, TimePoint now) {
  switch (settlement.kind) {
    case Settlement::Kind::finish: return finish(settlement, now);
    case Settlement::Kind::retry: return bind_common(retry_, settlement, now).bind(5, due(settlement, now)).run() == 1;
    case Settlement::Kind::advance:
      return bind_common(advance_, settlement, now)
                 .bind(5, due(settlement, now))
                 .bind(6, to_string(settlement.stage))
                 .bind(7, to_string(settlement.outcome))
                 .bind(8, settlement.result)
                 .run() == 1;
    case Settlement::Kind::hand_back: return hand_back(settlement, now);
  }
  return false;
}

// Two statements: the usual one leaves every index alone.
bool Settlements::hand_back(const Settlement& settlement, TimePoint now) {
  if (settlement.delay <= Millis{0}) return bind_common(hand_back_, settlement, now).run() == 1;
  return bind_common(hand_back_later_, settlement, now).bind(5, due(settlement, now)).run() == 1;
}

bool Settlements::finish(const Settlement& settlement, TimePoint now) {
  if (!keeps(history_, settlement.outcome)) return forget(settlement, now);
  Statement& move = bind_common(tables_.finish(now), settlement, now);
  if (move.bind(5, to_string(settlement.outcome)).run() == 0) return false;
  return removals_.run(remove_.bind(1, number(settlement.ticket.id)), settlement, now);
}

bool Settlements::forget(const Settlement& settlement, TimePoint now) {
  const Ticket& ticket = settlement.ticket;
  if (!removals_.run(bind_ticket(forget_, ticket), settlement, now)) return false;
  calls_.remove(ticket.id);
  return true;
}

}  // namespace easyretry::storage::sqlite
