#include "storage/mysql/loading.h"

#include <algorithm>
#include <iterator>

#include "base/later.h"
#include "storage/mysql/due_sql.h"
#include "storage/mysql/pieces.h"
#include "storage/record_columns.h"

namespace easyretry::storage::mysql {
namespace {

sql::DueRow due_row(const Rows& row) {
  const TimePoint next_at = from_ms(row.integer(3));
  return {ShardId{static_cast<std::uint16_t>(row.integer(0))},
          {TaskId{row.integer(1)}, row.integer(2)},
          next_at,
          std::string{row.text(4)},
          next_at,
          suspicion_byte(row.integer(5))};
}

std::optional<std::string> text_or_nothing(const Rows& row, int column) {
  if (row.is_null(column)) return std::nullopt;
  return std::string{row.text(column)};
}

}  // namespace

std::vector<sql::DueRow> due(Connection& connection, const std::string& table, const sql::DueQuery& query) {
  std::vector<sql::DueRow> due;
  if (query.limit == 0) return due;
  by_pieces(query.from, [&](std::span<const ShardCursor> piece) {
    sql::DueQuery some = query;
    some.from = piece;
    Rows rows = connection.select(mysql::due(table, some));
    while (rows.next()) due.push_back(due_row(rows));
  });
  return due;
}

sql::Glance glance(Connection& connection, const LoadQuery& query, std::optional<TimePoint> now) {
  Rows rows = connection.select(mysql::glance(query, now));
  rows.next();
  return {.now = from_ms(rows.integer(0)),
          .total_shards = text_or_nothing(rows, 2),
          .layout = text_or_nothing(rows, 3),
          .inbox = rows.integer(1) != 0};
}

// Shards that are too many for one statement are asked by others, as of the same moment.
sql::DuePage load(Connection& connection, const std::string& table, const LoadQuery& query,
                  std::optional<TimePoint> now) {
  LoadQuery first = query;
  first.from = query.from.first(std::min(query.from.size(), kMostRows));
  sql::DuePage page;
  Rows rows = connection.select(mysql::load(table, first, now));
  while (rows.next()) {
    if (rows.integer(0) != kNoShard) {
      page.rows.push_back(due_row(rows));
      continue;
    }
    page.glance = {
        .now = from_ms(rows.integer(1)), .total_shards = text_or_nothing(rows, 4), .inbox = rows.integer(2) != 0};
  }
  const TimePoint then = page.glance.now;
  std::ranges::move(
      due(connection, table,
          {query.space, query.from.subspan(first.from.size()), then, base::later(then, query.ahead), query.limit}),
      std::back_inserter(page.rows));
  return page;
}

}  // namespace easyretry::storage::mysql
