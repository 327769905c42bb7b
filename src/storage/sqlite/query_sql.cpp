#include "storage/sqlite/query_sql.h"

#include <algorithm>
#include <limits>

#include "storage/sqlite/columns.h"

namespace easyretry::storage::sqlite {

QuerySql::QuerySql(const TaskQuery& query) : query_(query) {
  equal("namespace", query.space);
  equal("task_key", query.key);
  equal("method_name", query.handler);
  equal("business_type", query.business_type);
  equal("business_id", query.business_id);
  if (query.state) of_state(*query.state);
  if (query.outcome) equal("outcome", to_string(*query.outcome));
  in_range("created_at", query.created_at);
  if (query.finished) in_range("finished_at", query.finished_at);
  if (query.finished && !query.requeued) where_.append(" AND ").append(kNotRequeued);
  if (!query.finished && query.finished_at.restricts()) where_.append(" AND FALSE");
}

void QuerySql::in_range(std::string_view column, const TimeRange& range) {
  const auto bound = [&](std::string_view compare, const std::optional<TimePoint>& time) {
    if (time) where_.append(" AND ").append(column).append(compare).append(std::to_string(to_ms(*time)));
  };
  bound(" >= ", range.from);
  bound(" < ", range.until);
}

void QuerySql::equal(std::string_view column, std::string_view text) {
  if (text.empty()) return;
  texts_.push_back(text);
  where_.append(" AND ").append(column).append(" = ?").append(std::to_string(texts_.size()));
}

// History has no column for it: all that is there has ended.
void QuerySql::of_state(TaskState state) {
  if (!query_.finished) return equal("status", to_string(state));
  if (state != TaskState::finished) where_.append(" AND FALSE");
}

std::vector<QuerySql::Part> QuerySql::parts() const {
  if (!query_.key.empty() && query_.finished) return {LookupPart::keys, LookupPart::former_keys};
  if (!query_.key.empty()) return {LookupPart::keys};
  if (!query_.business_id.empty()) return {LookupPart::businesses};
  return {std::nullopt};
}

// CROSS JOIN: SQLite would otherwise be free to walk the table and to look into the lookup for each row.
std::string QuerySql::from(const std::string& tasks, Part part) const {
  if (!part) return " FROM " + tasks + where_;
  const std::int64_t hash = lookup_hash(query_.key.empty() ? query_.business_id : query_.key);
  return " FROM retry_lookup CROSS JOIN " + tasks + where_ +
         " AND part = " + std::to_string(static_cast<std::int64_t>(*part)) + " AND hash = " + std::to_string(hash);
}

std::string QuerySql::page(const std::string& table, Part part) const {
  const std::size_t after = texts_.size() + 1;
  std::string sql = "SELECT " + (query_.finished ? finished_columns() : live_columns());
  // By the due index it would have to read and sort the whole namespace for its first page.
  const std::string rest = query_.finished ? kWithCallAndMark : kWithCall;
  sql.append(from(table + (part ? " USING (id)" : " NOT INDEXED") + rest, part));
  sql.append(" AND id > ?").append(std::to_string(after));
  return sql.append(" ORDER BY id LIMIT ?").append(std::to_string(after + 1));
}

void QuerySql::bind_page(Statement& statement) const {
  bind_texts(statement);
  const int after = static_cast<int>(texts_.size()) + 1;
  statement.bind(after, static_cast<std::int64_t>(query_.after));
  statement.bind(after + 1, limit_of(query_));
}

std::string QuerySql::count(const std::string& table, Part part) const {
  return "SELECT count(*)" +
         from(table + (part ? " USING (id)" : "") + (part || asks_for_calls() ? kWithCall : ""), part);
}

void QuerySql::bind_texts(Statement& statement) const {
  for (std::size_t i = 0; i < texts_.size(); ++i) statement.bind(static_cast<int>(i) + 1, texts_[i]);
}

std::int64_t limit_of(const TaskQuery& query) {
  constexpr std::size_t kNoLimit = std::numeric_limits<std::int64_t>::max();
  return static_cast<std::int64_t>(std::min(query.limit, kNoLimit));
}

}  // namespace easyretry::storage::sqlite
