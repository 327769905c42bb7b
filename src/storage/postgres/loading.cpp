#include "storage/postgres/loading.h"

#include "storage/postgres/batch.h"
#include "storage/postgres/rows.h"
#include "storage/postgres/statements.h"
#include "storage/sql/lane.h"

namespace easyretry::storage::postgres {
namespace {

Params cursors(std::string_view space, std::span<const ShardCursor> from) {
  Params params;
  Batch<ShardCursor>{params, from}
      .numbers([&](const ShardCursor& cursor) { return sql::lane_of(space, cursor.shard); })
      .numbers([](const ShardCursor& cursor) { return to_ms(cursor.place); })
      .numbers([](const ShardCursor& cursor) { return number(cursor.id); });
  params.add(space);
  return params;
}

std::vector<std::string_view> names(std::span<const std::string> handlers) {
  return {handlers.begin(), handlers.end()};
}

sql::DueRow due_row(const Rows& rows, int i) {
  return {sql::shard_in(static_cast<std::int32_t>(rows.integer(i, 0))),
          {TaskId{rows.integer(i, 1)}, rows.integer(i, 2)},
          from_ms(rows.integer(i, 3)),
          std::string{rows.text(i, 4)},
          from_ms(rows.integer(i, 5)),
          suspicion_byte(rows.integer(i, 6))};
}

std::optional<std::string> text_or_nothing(const Rows& rows, int row, int column) {
  if (rows.is_null(row, column)) return std::nullopt;
  return std::string{rows.text(row, column)};
}

}  // namespace

std::vector<sql::DueRow> due(Connection& db, const std::string& table, const sql::DueQuery& query) {
  Params params = cursors(query.space, query.from);
  params.add(to_ms(query.until)).add(to_ms(query.now)).add(limit(query.limit));
  const Rows rows = db.run(statements::due(table), params);
  return rows.each([&](int row) { return due_row(rows, row); });
}

sql::Glance glance(Connection& db, const LoadQuery& query, std::optional<TimePoint> now) {
  Params params;
  params.add(query.space).add(names(query.handlers)).add(ms(now));
  const Rows rows = db.run(statements::glance(), params);
  return {.now = from_ms(rows.integer(0, 0)),
          .total_shards = text_or_nothing(rows, 0, 2),
          .layout = text_or_nothing(rows, 0, 3),
          .inbox = rows.integer(0, 1) != 0};
}

sql::DuePage load(Connection& db, const std::string& table, const LoadQuery& query, std::optional<TimePoint> now) {
  Params params = cursors(query.space, query.from);
  params.add(query.ahead.count()).add(ms(now)).add(limit(query.limit)).add(names(query.handlers));
  const Rows rows = db.run(statements::load(table), params);
  sql::DuePage page;
  page.rows.reserve(static_cast<std::size_t>(rows.size()));
  for (int i = 0; i < rows.size(); ++i) {
    if (!rows.is_null(i, 0)) {
      page.rows.push_back(due_row(rows, i));
      continue;
    }
    page.glance = {.now = from_ms(rows.integer(i, 1)),
                   .total_shards = text_or_nothing(rows, i, 4),
                   .inbox = rows.integer(i, 2) != 0};
  }
  return page;
}

}  // namespace easyretry::storage::postgres
