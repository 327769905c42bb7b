#include "storage/mysql/search_sql.h"

#include "storage/mysql/literals.h"

namespace easyretry::storage::mysql {
namespace {

void add_equal(std::string& where, std::string_view column, std::string_view value) {
  if (!value.empty()) where.append(" AND ").append(column).append(" = ").append(bytes(value));
}

void add_range(std::string& where, std::string_view column, const TimeRange& range) {
  if (range.from) where.append(" AND ").append(column).append(" >= ").append(literal(*range.from));
  if (range.until) where.append(" AND ").append(column).append(" < ").append(literal(*range.until));
}

// History has no column for the state: all that is there has ended.
void add_state(std::string& where, const sql::Search& search) {
  if (!search.query.state) return;
  if (!search.history) return add_equal(where, "status", to_string(*search.query.state));
  if (*search.query.state != TaskState::finished) where.append(" AND FALSE");
}

std::string conditions(const sql::Search& search) {
  const TaskQuery& query = search.query;
  std::string where;
  add_equal(where, "namespace", query.space);
  add_equal(where, "task_key", query.key);
  add_equal(where, "method_name", query.handler);
  add_equal(where, "business_type", query.business_type);
  add_equal(where, "business_id", query.business_id);
  add_state(where, search);
  if (query.outcome) add_equal(where, "outcome", to_string(*query.outcome));
  add_range(where, "created_at", query.created_at);
  if (search.history) add_range(where, "finished_at", query.finished_at);
  if (search.history && !query.requeued) where.append(" AND requeued_as IS NULL");
  if (!search.history && query.finished_at.restricts()) where.append(" AND FALSE");
  return where;
}

// By a key or a business id if there is one. How much lies in a range of time is for the server to judge.
std::string index_of(const sql::Search& search, const std::string& otherwise) {
  if (!search.query.key.empty()) return " FORCE INDEX (idx_task_key)";
  if (!search.query.business_id.empty()) return " FORCE INDEX (idx_business)";
  if (search.history && search.query.finished_at.restricts()) return "";
  return otherwise;
}

}  // namespace

// By the due index it would have to read and sort the whole namespace for its first page.
std::string page(const sql::Search& search) {
  return "SELECT " + (search.history ? finished_columns() : live_columns()) + " FROM " + search.table +
         index_of(search, " FORCE INDEX (PRIMARY)") + " WHERE id > " + literal(search.query.after) +
         conditions(search) + " ORDER BY id LIMIT " + std::to_string(search.query.limit);
}

std::string count(const sql::Search& search) {
  return "SELECT COUNT(*) FROM " + search.table + index_of(search, "") + " WHERE TRUE" + conditions(search);
}

}  // namespace easyretry::storage::mysql
