#include "storage/postgres/counting.h"

#include <vector>

#include "storage/postgres/batch.h"
#include "storage/sql/row_id.h"

namespace easyretry::storage::postgres {
namespace {

const std::string kColumns{kCountColumns};

std::size_t add_rows(const Rows& rows, Sums& into) {
  for (int i = 0; i < rows.size(); ++i) read_count(Row{rows, i}, into);
  return static_cast<std::size_t>(rows.size());
}

Params limited(std::size_t limit) {
  Params params;
  params.add(static_cast<std::int64_t>(limit));
  return params;
}

}  // namespace

// Rows of retry_count_delta live for seconds: what is dead is cleared away before it is much.
std::string create_counts() {
  return "CREATE TABLE IF NOT EXISTS retry_count (day bigint NOT NULL, namespace text COLLATE \"C\" NOT NULL, "
         "method_name text COLLATE \"C\" NOT NULL, kind text COLLATE \"C\" NOT NULL, tasks bigint NOT NULL, "
         "PRIMARY KEY (day, namespace, method_name, kind));"
         "CREATE TABLE IF NOT EXISTS retry_count_delta (id bigint PRIMARY KEY, "
         "day bigint NOT NULL, namespace text NOT NULL, method_name text NOT NULL, kind text NOT NULL, "
         "tasks bigint NOT NULL) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000, "
         "autovacuum_vacuum_cost_delay = 0);"
         "COMMENT ON TABLE retry_count IS 'EasyRetry: tasks stored and ended, by day, UTC; 0: earlier days';"
         "COMMENT ON TABLE retry_count_delta IS 'EasyRetry: to be added to retry_count'";
}

std::string insert_sums(Connection& db, const Sums& sums, base::Random& ids) {
  std::string values;
  for (const auto& [key, tasks] : sums.rows()) {
    values.append(values.empty() ? "(" : ",(").append(std::to_string(sql::row_id(ids))).append(",");
    values.append(std::to_string(to_ms(key.day))).append(",");
    values.append(db.literal(key.space)).append(",").append(db.literal(key.handler)).append(",");
    values.append(db.literal(key.kind)).append(",").append(std::to_string(tasks)).append(")");
  }
  if (values.empty()) return values;
  return "INSERT INTO retry_count_delta (id, " + kColumns + ") VALUES " + values + ";";
}

std::size_t take_sums(Connection& db, std::size_t limit, Sums& into) {
  return add_rows(db.run("DELETE FROM retry_count_delta WHERE id = ANY(ARRAY(SELECT id FROM retry_count_delta "
                         "ORDER BY id LIMIT $1 FOR UPDATE SKIP LOCKED)) RETURNING " +
                             kColumns,
                         limited(limit)),
                  into);
}

std::size_t take_days(Connection& db, TimePoint before, std::size_t limit, Sums& into) {
  return add_rows(db.run("DELETE FROM retry_count WHERE ctid = ANY(ARRAY(SELECT ctid FROM retry_count "
                         "WHERE day < $2 AND day <> 0 LIMIT $1 FOR UPDATE SKIP LOCKED)) RETURNING " +
                             kColumns,
                         limited(limit).add(to_ms(before))),
                  into);
}

// In the order of the keys: two that add to the same ones wait for each other, and never in a circle.
void add_totals(Connection& db, const Sums& sums) {
  using Entry = Sums::Rows::value_type;
  const std::vector<Entry> rows{sums.rows().begin(), sums.rows().end()};
  Params params;
  Batch<Entry>{params, rows}
      .numbers([](const Entry& row) { return to_ms(row.first.day); })
      .texts([](const Entry& row) { return std::string_view{row.first.space}; })
      .texts([](const Entry& row) { return std::string_view{row.first.handler}; })
      .texts([](const Entry& row) { return std::string_view{row.first.kind}; })
      .numbers([](const Entry& row) { return row.second; });
  db.run("INSERT INTO retry_count AS c (" + kColumns +
             ") SELECT * FROM unnest($1::bigint[], $2::text[], $3::text[], $4::text[], $5::bigint[]) "
             "ON CONFLICT (day, namespace, method_name, kind) DO UPDATE SET tasks = c.tasks + excluded.tasks",
         params);
}

void read_counts(Connection& db, std::string_view space, Sums& into) {
  Params params;
  params.add(space);
  add_rows(db.run("SELECT day, namespace, method_name, kind, sum(tasks)::bigint FROM (SELECT " + kColumns +
                      " FROM retry_count WHERE namespace = $1 UNION ALL SELECT " + kColumns +
                      " FROM retry_count_delta WHERE namespace = $1) c GROUP BY 1, 2, 3, 4",
                  params),
           into);
}

}  // namespace easyretry::storage::postgres
