#include "storage/mysql/counting.h"

#include "storage/mysql/literals.h"
#include "storage/mysql/statements.h"
#include "storage/sql/row_id.h"

namespace easyretry::storage::mysql {
namespace {

const std::string kColumns{kCountColumns};

constexpr const char* kShared =
    "day BIGINT NOT NULL COMMENT 'its beginning, ms since 1970 UTC; 0: earlier days', namespace VARBINARY(128) NOT "
    "NULL,"
    "method_name VARBINARY(512) NOT NULL COMMENT 'handler', kind VARBINARY(20) NOT NULL COMMENT 'STORED, or an "
    "outcome',"
    "tasks BIGINT NOT NULL, ";
constexpr const char* kEngine =
    " ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin COMMENT=";

std::string values(const CountKey& key, std::int64_t tasks) {
  return literal(key.day) + "," + bytes(key.space) + "," + bytes(key.handler) + "," + bytes(key.kind) + "," +
         literal(tasks) + ")";
}

}  // namespace

std::string create_count() {
  return std::string{"CREATE TABLE IF NOT EXISTS retry_count ("} + kShared +
         "PRIMARY KEY (day, namespace, method_name, kind))" + kEngine + "'tasks stored and ended'";
}

std::string create_count_delta() {
  return std::string{"CREATE TABLE IF NOT EXISTS retry_count_delta (id BIGINT NOT NULL, "} + kShared +
         "PRIMARY KEY (id))" + kEngine + "'to be added to retry_count'";
}

std::string insert_sums(const Sums& sums, base::Random& ids) {
  std::string rows;
  for (const auto& [key, tasks] : sums.rows()) {
    rows.append(rows.empty() ? "(" : ",(").append(literal(sql::row_id(ids))).append(",").append(values(key, tasks));
  }
  return "INSERT INTO retry_count_delta (id, " + kColumns + ") VALUES " + rows;
}

std::size_t take_sums(Connection& connection, std::size_t limit, Sums& into) {
  const std::string table = "retry_count_delta";
  std::string ids;
  std::size_t taken = 0;
  Rows rows =
      connection.select("SELECT " + kColumns + ", id FROM " + table + " FORCE INDEX (PRIMARY) ORDER BY id LIMIT " +
                        std::to_string(limit) + " FOR UPDATE SKIP LOCKED");
  for (; rows.next(); ++taken) {
    read_count(rows, into);
    ids.append(taken == 0 ? "" : ",").append(rows.text(5));
  }
  if (taken > 0) connection.run(remove(table, ids));
  return taken;
}

// Once a day there are some: each is removed by a statement of its own, which locks no other row.
std::size_t take_days(Connection& connection, TimePoint before, std::size_t limit, Sums& into) {
  std::string removals;
  std::size_t taken = 0;
  Rows rows =
      connection.select("SELECT " + kColumns + " FROM retry_count FORCE INDEX (PRIMARY) WHERE day < " +
                        literal(before) + " AND day <> 0 LIMIT " + std::to_string(limit) + " FOR UPDATE SKIP LOCKED");
  for (; rows.next(); ++taken) {
    read_count(rows, into);
    removals.append(taken == 0 ? "" : ";").append("DELETE FROM retry_count WHERE day = ").append(rows.text(0));
    removals.append(" AND namespace = ").append(bytes(rows.text(1)));
    removals.append(" AND method_name = ").append(bytes(rows.text(2)));
    removals.append(" AND kind = ").append(bytes(rows.text(3)));
  }
  if (taken > 0) connection.run(removals);
  return taken;
}

// In the order of the keys: two that add to the same ones wait for each other, and never in a circle.
void add_totals(Connection& connection, const Sums& sums) {
  std::string rows;
  for (const auto& [key, tasks] : sums.rows()) {
    rows.append(rows.empty() ? "(" : ",(").append(values(key, tasks));
  }
  connection.run("INSERT INTO retry_count (" + kColumns + ") VALUES " + rows +
                 " ON DUPLICATE KEY UPDATE tasks = tasks + VALUES(tasks)");
}

void read_counts(Connection& connection, std::string_view space, Sums& into) {
  const std::string of_space = " WHERE namespace = " + bytes(space);
  Rows rows =
      connection.select("SELECT day, namespace, method_name, kind, SUM(tasks) FROM (SELECT " + kColumns +
                        " FROM retry_count" + of_space + " UNION ALL SELECT " + kColumns + " FROM retry_count_delta" +
                        of_space + ") AS c GROUP BY day, namespace, method_name, kind");
  while (rows.next()) read_count(rows, into);
}

}  // namespace easyretry::storage::mysql
