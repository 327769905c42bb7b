#include "storage/sqlite/claims.h"

#include "base/later.h"
#include "storage/sqlite/columns.h"
#include "storage/sqlite/statements.h"

namespace easyretry::storage::sqlite {

Claims::Claims(Connection& db) : claim_(db.prepare(sql::claim())), renew_(db.prepare(sql::renew())) {}

Claims::Won Claims::claim(const ClaimRequest& request, TimePoint now) {
  Won won{.now = now, .tickets = {}};
  won.tickets.reserve(request.tickets.size());
  for (const Ticket& ticket : request.tickets) {
    if (claim_one(ticket, request, now)) won.tickets.push_back({ticket.id, ticket.version + 1});
  }
  return won;
}

bool Claims::claim_one(const Ticket& ticket, const ClaimRequest& request, TimePoint now) {
  return claim_.bind(1, number(ticket.id))
             .bind(2, ticket.version)
             .bind(3, to_ms(now))
             .bind(4, request.owner)
             .bind(5, to_ms(base::later(now, request.lease)))
             .bind_or_null(6, request.begin ? std::optional{to_ms(now)} : std::nullopt)
             .run() == 1;
}

Applied Claims::renew(std::span<const Renewal> renewals, TimePoint now) {
  Applied reply{.now = now, .applied = {}};
  for (const Renewal& renewal : renewals) {
    renew_.bind(1, number(renewal.ticket.id)).bind(2, renewal.ticket.version);
    renew_.bind(3, to_ms(now)).bind(4, to_ms(base::later(now, renewal.lease)));
    renewal.progress ? renew_.bind(5, *renewal.progress) : renew_.bind_null(5);
    reply.applied.push_back(renew_.run() == 1);
  }
  return reply;
}

}  // namespace easyretry::storage::sqlite
