#include "storage/sql/due_tasks.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "base/later.h"
#include "storage/sql/live_rows.h"
#include "storage/sql/transactions.h"

namespace easyretry::storage::sql {
namespace {

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
    reply.tasks.push_back({row.ticket, row.next_at, number->second, row.suspicion});
  }
}

}  // namespace

LoadReply DueTasks::load(Session& session, const LoadQuery& query, std::optional<TimePoint> now) {
  LoadReply reply;
  if (query.limit == 0 || query.from.empty()) {
    reply.now = now ? *now : session.now();
    return reply;
  }
  DuePage page =
      tables_.several() ? in_several_tables(session, query, now) : session.load(tables_.router().name({}), query, now);
  check(page.glance);
  reply.now = page.glance.now;
  reply.inbox = page.glance.inbox;
  collect(std::move(page.rows), query.limit, reply);
  return reply;
}

// The tables depend on the time, and on a layout that may have changed.
DuePage DueTasks::in_several_tables(Session& session, const LoadQuery& query, std::optional<TimePoint> now) {
  const std::uint64_t asked = tables_.as_of();
  Glance glance = session.ledger().glance(query, now);
  check(glance);
  if (tables_.can_be_split() && glance.layout) tables_.observe(*glance.layout, asked);
  const DueQuery due{query.space, query.from, glance.now, base::later(glance.now, query.ahead), query.limit};
  auto rows = LiveRows{session, tables_, glance.now}.due(due);
  return {std::move(glance), std::move(rows)};
}

void DueTasks::check(const Glance& glance) {
  if (const auto why = shards_.observe(glance.total_shards)) throw Refusal{{Errc::unavailable, where_, *why}};
}

}  // namespace easyretry::storage::sql
