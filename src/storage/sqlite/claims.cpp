#include "storage/sqlite/claims.h"

#include "base/later.h"
#include "storage/sqlite/columns.h"
#include "storage/sqlite/statements.h"

namespace easyretry::storage::sqlite {

Claims::Claims(Connection& db)
    : claim_(db.prepare(sql::claim())), record_(db.prepare(sql::live_record())), renew_(db.prepare(sql::renew())) {}

ClaimReply Claims::claim(const ClaimRequest& request, TimePoint now) {
  ClaimReply reply{.now = now, .won = {}};
  reply.won.reserve(request.tickets.size());
  for (const Ticket& ticket : request.tickets) {
    if (auto won = claim_one(ticket, request, now)) reply.won.push_back(*std::move(won));
  }
  return reply;
}

std::optional<TaskRecord> Claims::claim_one(const Ticket& ticket, const ClaimRequest& request, TimePoint now) {
  const auto id = static_cast<std::int64_t>(ticket.id);
  const bool won = claim_.bind(1, id)
                       .bind(2, ticket.version)
                       .bind(3, to_ms(now))
                       .bind(4, request.owner)
                       .bind(5, to_ms(base::later(now, request.lease)))
                       .run() == 1;
  if (!won) return std::nullopt;
  record_.bind(1, id);
  Rows rows{record_};
  if (!rows.next()) return std::nullopt;
  return read_record(record_);
}

Applied Claims::renew(std::span<const Renewal> renewals, TimePoint now) {
  Applied reply{.now = now, .applied = {}};
  for (const Renewal& renewal : renewals) {
    renew_.bind(1, static_cast<std::int64_t>(renewal.ticket.id)).bind(2, renewal.ticket.version);
    renew_.bind(3, to_ms(now)).bind(4, to_ms(base::later(now, renewal.lease)));
    renewal.progress ? renew_.bind(5, *renewal.progress) : renew_.bind_null(5);
    reply.applied.push_back(renew_.run() == 1);
  }
  return reply;
}

}  // namespace easyretry::storage::sqlite
