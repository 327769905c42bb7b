#include "storage/mysql/counting.h"

#include <vector>

#include "storage/mysql/literals.h"

namespace easyretry::storage::mysql {
namespace {

const std::string kColumns{kCountColumns};

constexpr const char* kShared =
    "day BIGINT NOT NULL COMMENT 'its beginning, ms since 1970 UTC; 0: former days', namespace VARBINARY(128) NOT "
    "NULL, "
    "method_name VARBINARY(512) NOT NULL COMMENT 'handler', kind VARCHAR(20) CHARACTER SET ascii COLLATE ascii_bin NOT "
    "NULL COMMENT 'STORED, or an outcome', tasks BIGINT NOT NULL, ";
constexpr const char* kEngine =
    " ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin COMMENT=";

std::string key_values(const CountKey& key) {
  return literal(key.day) + "," + bytes(key.space) + "," + bytes(key.handler) + "," + bytes(key.kind);
}

std::string insert(const std::string& table, const Sums& sums) {
  std::string values;
  for (const auto& [key, tasks] : sums.rows()) {
    values.append(values.empty() ? "(" : ",(").append(key_values(key)).append(",").append(literal(tasks)).append(")");
  }
  return "INSERT INTO " + table + " (" + kColumns + ") VALUES " + values;
}

}  // namespace

std::string create_count() {
  return std::string{"CREATE TABLE IF NOT EXISTS retry_count ("} + kShared +
         "PRIMARY KEY (day, namespace, method_name, kind))" + kEngine + "'tasks stored and ended'";
}

std::string create_count_delta() {
  return std::string{"CREATE TABLE IF NOT EXISTS retry_count_delta (id BIGINT NOT NULL AUTO_INCREMENT, "} + kShared +
         "PRIMARY KEY (id))" + kEngine + "'to be added to retry_count'";
}

std::string insert_sums(const Sums& sums) {
  return insert("retry_count_delta", sums);
}

std::size_t take_sums(Connection& connection, std::size_t limit, Sums& into) {
  std::string ids;
  std::size_t taken = 0;
  Rows rows =
      connection.select("SELECT " + kColumns + ", id FROM retry_count_delta FORCE INDEX (PRIMARY) ORDER BY id LIMIT " +
                        std::to_string(limit) + " FOR UPDATE SKIP LOCKED");
  for (; rows.next(); ++taken) {
    read_count(rows, into);
    ids.append(taken == 0 ? "" : ",").append(rows.text(5));
  }
  if (taken > 0) connection.run("DELETE FROM retry_count_delta WHERE id IN (" + ids + ")");
  return taken;
}

std::size_t take_days(Connection& connection, TimePoint before, std::size_t limit, Sums& into) {
  Sums taken;
  Rows rows =
      connection.select("SELECT " + kColumns + " FROM retry_count FORCE INDEX (PRIMARY) WHERE day < " +
                        literal(before) + " AND day <> 0 LIMIT " + std::to_string(limit) + " FOR UPDATE SKIP LOCKED");
  while (rows.next()) read_count(rows, taken);
  std::string keys;
  for (const auto& [key, tasks] : taken.rows()) {
    keys.append(keys.empty() ? "(" : ",(").append(key_values(key)).append(")");
    into.add(key, tasks);
  }
  if (!taken.empty()) {
    connection.run("DELETE FROM retry_count WHERE (day, namespace, method_name, kind) IN (" + keys + ")");
  }
  return taken.rows().size();
}

// In the order of the keys: two that add to the same ones wait for each other, and never in a circle.
void add_totals(Connection& connection, const Sums& sums) {
  connection.run(insert("retry_count", sums) + " ON DUPLICATE KEY UPDATE tasks = tasks + VALUES(tasks)");
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
