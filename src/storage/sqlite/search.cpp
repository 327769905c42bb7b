#include "storage/sqlite/search.h"

#include <algorithm>
#include <limits>

#include "storage/list_walk.h"
#include "storage/record_columns.h"
#include "storage/sqlite/id_list.h"
#include "storage/sqlite/statements.h"
#include "task/record.h"
#include "task/task_id.h"

namespace easyretry::storage::sqlite {
namespace {

constexpr const char* kWithCall = " LEFT JOIN retry_call USING (id)";
constexpr const char* kWithCallAndMark = " LEFT JOIN retry_call USING (id) LEFT JOIN retry_requeued USING (id)";

// Found by the primary key of a small table, so that the indexes of a month are still enough.
constexpr const char* kNotRequeued = "id NOT IN (SELECT id FROM retry_requeued)";

// The expressions of the indexes in migrations/004_search_indexes.sql, which SQLite uses only for the same expression.
constexpr const char* kFinishedSlice = "finished_at / 600000";
constexpr const char* kEndedLate = "(finished_at / 600000 - (id / 4194304 + 1577836800000) / 600000) NOT IN (0, 1)";
constexpr const char* kStoredOutOfOrder =
    "((id / 4194304 + 1577836800000) / 600000 - created_at / 600000) NOT IN (0, 1)";

// The maximum number of rows on a page, in the form that SQLite takes.
std::int64_t limit_of(const TaskQuery& query) {
  constexpr std::size_t kNoLimit = std::numeric_limits<std::int64_t>::max();
  return static_cast<std::int64_t>(std::min(query.limit, kNoLimit));
}

constexpr std::int64_t kLast = std::numeric_limits<std::int64_t>::max();

std::optional<std::int64_t> slice_of(const std::optional<TimePoint>& time) {
  return time ? std::optional{to_ms(*time) / kSlice.count()} : std::nullopt;
}

// The first possible id of this slice; nullopt if it is after all possible ids.
std::optional<std::int64_t> first_id(std::int64_t slice) {
  if (slice > *slice_of(task::created_at(TaskId{kLast}))) return std::nullopt;
  return number(task::make_task_id(TimePoint{std::max<std::int64_t>(slice, 0) * kSlice}, ShardId{}, 0));
}

// Greater than `after`, less than `before`.
struct IdRange {
  std::int64_t after = 0;
  std::int64_t before = kLast;

  explicit IdRange(const ListWalk& walk) { (walk.down() ? before : after) = number(walk.from()); }
  void from_slice(std::int64_t slice) { after = std::max(after, first_id(slice).value_or(kLast) - 1); }
  void until_slice(std::int64_t slice) { before = std::min(before, first_id(slice + 1).value_or(kLast)); }
};

// The ids of tasks that were stored in this time, as far as the walk reaches, except those that were stored out of
// order.
IdRange ids_stored_in(const TimeRange& time, const ListWalk& walk) {
  IdRange range{walk};
  if (const auto slice = slice_of(time.from)) range.from_slice(*slice);
  if (const auto slice = slice_of(time.until)) range.until_slice(*slice + 1);
  return range;
}

// The part of a page of one month, or of retry_state: ids, each once or more often, in any order. Each source gives a
// page at most, which begins where the query's order begins.
class MonthSearch {
 public:
  MonthSearch(Connection& db, const TaskQuery& query, const std::string& month)
      : db_(db), query_(query), walk_(query), sql_(query), month_(month) {}

  std::vector<TaskId> ids() {
    in_order();
    if (query_.finished && query_.finished_at.restricts()) that_ended_late();
    if (query_.created_at.restricts()) stored_out_of_order();
    return std::move(ids_);
  }

 private:
  // The tasks whose times follow from their ids.
  void in_order() {
    IdRange range = ids_stored_in(query_.created_at, walk_);
    if (!query_.finished) return walk(range);
    if (const auto slice = slice_of(query_.finished_at.from)) range.from_slice(*slice - 1);
    if (const auto slice = slice_of(query_.finished_at.until)) range.until_slice(*slice);
    if (query_.name_space.empty() || (query_.handler.empty() && !query_.outcome)) return walk(range);
    const std::string kinds = " INDEXED BY " + month_ + "_kinds";
    if (!query_.handler.empty() && query_.outcome) return take(page(with_call(kinds)), range);
    if (query_.outcome) return of_every_handler(kinds, range);
    PreparedStatement of_outcome = page(with_call(kinds), " AND outcome = " + parameter(0));
    for (const Outcome outcome : task::all_outcomes()) take(of_outcome.bind(own(0), task::stored_name(outcome)), range);
  }

  // The rows of the table are sorted by id.
  void walk(const IdRange& range) { take(page(with_call(" NOT INDEXED")), range); }

  void of_every_handler(const std::string& kinds, const IdRange& range) {
    PreparedStatement next = db_.prepare(statements::next_handler.with({{"table", month_}}));
    PreparedStatement of_handler = page(with_call(kinds), " AND method_name = " + parameter(0));
    for (std::string handler;;) {
      Rows rows{next.bind(1, query_.name_space).bind(2, handler)};
      if (!rows.next()) return;
      handler = next.text(0);
      take(of_handler.bind(own(0), handler), range);
    }
  }

  void that_ended_late() {
    const std::string late = " INDEXED BY " + month_ + "_late";
    const std::string is_late = std::string{" AND "} + kEndedLate;
    PreparedStatement next = db_.prepare(statements::next_late_slice.with({{"table", month_}}));
    PreparedStatement in_slice = page(with_call(late), is_late + " AND " + kFinishedSlice + " = " + parameter(0));
    const std::int64_t end = slice_of(query_.finished_at.until).value_or(kLast);
    std::int64_t slice = slice_of(query_.finished_at.from).value_or(std::numeric_limits<std::int64_t>::min());
    while (slice <= end) {
      Rows rows{next.bind(1, slice)};
      if (!rows.next()) return;
      slice = next.integer(0);
      if (slice > end) return;
      take(in_slice.bind(own(0), slice), IdRange{walk_});
      ++slice;
    }
  }

  void stored_out_of_order() {
    take(page("retry_call INDEXED BY retry_call_out_of_order CROSS JOIN " + month_ + " USING (id)",
              std::string{" AND "} + kStoredOutOfOrder),
         IdRange{walk_});
  }

  // CROSS JOIN: SQLite walks the month and looks up each call, never the other way round.
  std::string with_call(const std::string& index) const {
    return month_ + index + (sql_.asks_for_calls() ? " CROSS JOIN retry_call USING (id)" : "");
  }

  // Parameters after those of the conditions: own(0) is free to use, then come the bounds and the limit.
  int own(int number) const { return sql_.parameters() + 1 + number; }
  std::string parameter(int number) const { return "?" + std::to_string(own(number)); }

  PreparedStatement page(const std::string& from, const std::string& more = {}) {
    PreparedStatement statement =
        db_.prepare("SELECT id FROM " + from + sql_.where() + more + " AND id > " + parameter(1) + " AND id < " +
                    parameter(2) + " ORDER BY id " + std::string{walk_.direction()} + " LIMIT " + parameter(3));
    sql_.bind_texts(statement);
    return statement;
  }

  void take(PreparedStatement& page, const IdRange& range) {
    page.bind(own(1), range.after).bind(own(2), range.before).bind(own(3), limit_of(query_));
    Rows rows{page};
    while (rows.next()) ids_.push_back(TaskId{page.integer(0)});
  }
  void take(PreparedStatement&& page, const IdRange& range) { take(page, range); }

  Connection& db_;
  const TaskQuery& query_;
  const ListWalk walk_;
  const QuerySql sql_;
  const std::string& month_;
  std::vector<TaskId> ids_;
};

struct Place {
  TaskId id;
  std::size_t month;
  friend auto operator<=>(const Place&, const Place&) = default;
};

// In the order of the query.
std::vector<Place> first_places(Connection& db, const TaskQuery& query, const std::vector<std::string>& months) {
  std::vector<Place> places;
  for (std::size_t i = 0; i < months.size(); ++i) {
    for (const TaskId id : MonthSearch{db, query, months[i]}.ids()) places.push_back({id, i});
  }
  std::sort(places.begin(), places.end());
  if (ListWalk{query}.down()) std::reverse(places.begin(), places.end());
  places.erase(std::unique(places.begin(), places.end()), places.end());
  if (places.size() > query.limit)
    places.erase(places.begin() + static_cast<std::ptrdiff_t>(query.limit), places.end());
  return places;
}

}  // namespace

QuerySql::QuerySql(const TaskQuery& query) : query_(query) {
  add_conditions(query, query.finished, *this);
  if (query.finished && !query.requeued) require(kNotRequeued);
}

void QuerySql::in_range(std::string_view column, const TimeRange& range) {
  const auto bound = [&](std::string_view compare, const std::optional<TimePoint>& time) {
    if (time) where_.append(" AND ").append(column).append(compare).append(std::to_string(to_ms(*time)));
  };
  bound(" >= ", range.from);
  bound(" < ", range.until);
}

void QuerySql::equal(std::string_view column, std::string_view text) {
  texts_.push_back(text);
  where_.append(" AND ").append(column).append(" = ?").append(std::to_string(texts_.size()));
}

std::vector<QuerySql::Part> QuerySql::parts() const {
  if (!query_.key.empty() && query_.finished) return {LookupPart::keys, LookupPart::former_keys};
  if (!query_.key.empty()) return {LookupPart::keys};
  if (!query_.business_id.empty()) return {LookupPart::businesses};
  return {std::nullopt};
}

// CROSS JOIN: otherwise SQLite might walk the table and probe the lookup for each row.
std::string QuerySql::from(const std::string& tasks, Part part) const {
  if (!part) return " FROM " + tasks + where_;
  const std::int64_t hash = lookup_hash(query_.key.empty() ? query_.business_id : query_.key);
  return " FROM retry_lookup CROSS JOIN " + tasks + where_ +
         " AND part = " + std::to_string(static_cast<std::int64_t>(*part)) + " AND hash = " + std::to_string(hash);
}

std::string QuerySql::page(const std::string& table, Part part) const {
  const std::size_t from_id = texts_.size() + 1;
  std::string sql = "SELECT " + (query_.finished ? finished_columns() : live_columns());
  // NOT INDEXED: with the due index, SQLite would have to read and sort the whole namespace for its first page.
  const std::string rest = query_.finished ? kWithCallAndMark : kWithCall;
  sql.append(from(table + (part ? " USING (id)" : " NOT INDEXED") + rest, part));
  const ListWalk walk{query_};
  sql.append(" AND id ").append(walk.beyond()).append(" ?").append(std::to_string(from_id));
  sql.append(" ORDER BY id ").append(walk.direction());
  return sql.append(" LIMIT ?").append(std::to_string(from_id + 1));
}

void QuerySql::bind_page(PreparedStatement& statement) const {
  bind_texts(statement);
  const int from_id = parameters() + 1;
  statement.bind(from_id, number(ListWalk{query_}.from()));
  statement.bind(from_id + 1, limit_of(query_));
}

// The tasks whose ids lie in a range, and among the others those that were stored out of order.
std::string QuerySql::count_by_creation(const std::string& table) const {
  const IdRange range = ids_stored_in(query_.created_at, ListWalk{TaskQuery{}});
  const std::string in_range = "id > " + std::to_string(range.after) + " AND id < " + std::to_string(range.before);
  return "SELECT (SELECT count(*) FROM " + table + " NOT INDEXED CROSS JOIN retry_call USING (id)" + where_ + " AND " +
         in_range + ") + (SELECT count(*) FROM retry_call INDEXED BY retry_call_out_of_order CROSS JOIN " + table +
         " USING (id)" + where_ + " AND " + kStoredOutOfOrder + " AND NOT (" + in_range + "))";
}

std::string QuerySql::count(const std::string& table, Part part) const {
  if (!part && query_.created_at.restricts()) return count_by_creation(table);
  return "SELECT count(*)" +
         from(table + (part ? " USING (id)" : "") + (part || asks_for_calls() ? kWithCall : ""), part);
}

void QuerySql::bind_texts(PreparedStatement& statement) const {
  for (std::size_t i = 0; i < texts_.size(); ++i) statement.bind(static_cast<int>(i) + 1, texts_[i]);
}

std::vector<TaskRecord> search_history(Connection& db, const TaskQuery& query, const std::vector<std::string>& months) {
  const std::vector<Place> places = first_places(db, query, months);
  std::vector<TaskRecord> records;
  for (std::size_t month = 0; month < months.size(); ++month) {
    std::vector<TaskId> ids;
    for (const Place& place : places) {
      if (place.month == month) ids.push_back(place.id);
    }
    if (ids.empty()) continue;
    PreparedStatement finished = db.prepare(statements::finished_records.with({{"table", months[month]}}));
    const IdList list{ids};
    bind_ids(finished, 1, list);
    Rows rows{finished};
    while (rows.next()) records.push_back(read_record(finished));
  }
  ListWalk{query}.sort(records);
  return records;
}

std::vector<TaskRecord> search_live(Connection& db, const TaskQuery& query) {
  std::vector<TaskId> ids;
  for (const Place& place : first_places(db, query, {"retry_state"})) ids.push_back(place.id);
  PreparedStatement live = db.prepare(statements::live_records);
  const IdList list{ids};
  bind_ids(live, 1, list);
  std::vector<TaskRecord> records;
  Rows rows{live};
  while (rows.next()) records.push_back(read_record(live));
  return records;
}

std::vector<TaskId> ids_in_month(Connection& db, const TaskQuery& query, const std::string& month) {
  std::vector<TaskId> ids;
  for (const Place& place : first_places(db, query, {month})) ids.push_back(place.id);
  return ids;
}

}  // namespace easyretry::storage::sqlite
