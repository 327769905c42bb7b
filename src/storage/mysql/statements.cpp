#include "storage/mysql/statements.h"

#include "storage/mysql/values.h"

namespace easyretry::storage::mysql {
namespace {

// Times as they stand in a statement.
struct Scan {
  std::string_view space;
  std::span<const ShardCursor> from;
  std::string now;
  std::string until;
  std::size_t limit;
};

std::string due_rows(const std::string& table, const Scan& scan) {
  const std::string space = bytes(scan.space);
  const std::string limit = std::to_string(scan.limit);
  std::string all;
  for (const ShardCursor& cursor : scan.from) {
    const std::string shard = std::to_string(static_cast<int>(cursor.shard));
    all.append(all.empty() ? "(" : " UNION ALL (");
    if (cursor.place == TimePoint::min()) {
      all.append(statements::due.with({{"table", table},
                                       {"namespace", space},
                                       {"shard", shard},
                                       {"until", scan.until},
                                       {"now", scan.now},
                                       {"limit", limit}}));
    } else {
      all.append(statements::due_after.with({{"table", table},
                                             {"namespace", space},
                                             {"shard", shard},
                                             {"from", literal(cursor.place)},
                                             {"after", literal(cursor.id)},
                                             {"until", scan.until},
                                             {"now", scan.now},
                                             {"limit", limit}}));
    }
    all.append(")");
  }
  return all;
}

void add_equal(std::string& where, std::string_view column, std::string_view value) {
  if (!value.empty()) where.append(" AND ").append(column).append(" = ").append(bytes(value));
}

void add_range(std::string& where, std::string_view column, const TimeRange& range) {
  if (range.from) where.append(" AND ").append(column).append(" >= ").append(literal(*range.from));
  if (range.until) where.append(" AND ").append(column).append(" < ").append(literal(*range.until));
}

// History has no column for the state: all its tasks have ended.
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

// A key or a business id is found by its index. How many rows are in a range of time is for the server to judge.
std::string_view index_of(const sql::Search& search, std::string_view otherwise) {
  if (!search.query.key.empty()) return "FORCE INDEX (idx_task_key)";
  if (!search.query.business_id.empty()) return "FORCE INDEX (idx_business)";
  if (search.history && search.query.finished_at.restricts()) return "";
  return otherwise;
}

}  // namespace

std::string due_statement(const std::string& table, const sql::DueQuery& query) {
  return due_rows(table, {query.space, query.from, literal(query.now), literal(query.until), query.limit});
}

std::string load_statement(const std::string& table, const LoadQuery& query, std::optional<TimePoint> now) {
  const std::string time = time_or_servers(now);
  const std::string glance = statements::glance_among_due.with(
      {{"now", time}, {"namespace", in_quotes(escaped(query.space))}, {"handlers", handler_list(query.handlers)}});
  return "(" + glance + ") UNION ALL " +
         due_rows(table, {query.space, query.from, time, later(time, query.ahead), query.limit});
}

std::string handler_list(std::span<const std::string> handlers) {
  if (handlers.empty()) return "NULL";
  return list_of(handlers, [](const std::string& handler) { return in_quotes(escaped(handler)); });
}

// By the due index, the server would have to read and sort the whole namespace for the first page.
std::string page_statement(const sql::Search& search) {
  const Statement& statement = search.history ? statements::finished_page : statements::live_page;
  return statement.with({{"table", search.table},
                         {"index", index_of(search, "FORCE INDEX (PRIMARY)")},
                         {"after", literal(search.query.after)},
                         {"conditions", conditions(search)},
                         {"limit", std::to_string(search.query.limit)}});
}

std::string count_statement(const sql::Search& search) {
  return statements::count_tasks.with(
      {{"table", search.table}, {"index", index_of(search, "")}, {"conditions", conditions(search)}});
}

}  // namespace easyretry::storage::mysql
