#include "storage/sqlite/history_search.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "storage/sqlite/columns.h"
#include "storage/sqlite/history_index.h"
#include "storage/sqlite/id_list.h"
#include "storage/sqlite/query_sql.h"
#include "storage/sqlite/statements.h"
#include "task/record.h"
#include "task/task_id.h"

namespace easyretry::storage::sqlite {
namespace {

constexpr std::int64_t kLast = std::numeric_limits<std::int64_t>::max();

std::optional<std::int64_t> slice_of(const std::optional<TimePoint>& time) {
  return time ? std::optional{to_ms(*time) / kSlice.count()} : std::nullopt;
}

// The first id that may be of this slice; nullopt where it is after all that can be.
std::optional<std::int64_t> first_id(std::int64_t slice) {
  if (slice > *slice_of(task::created_at(TaskId{kLast}))) return std::nullopt;
  return number(task::make_task_id(TimePoint{std::max<std::int64_t>(slice, 0) * kSlice}, ShardId{}, 0));
}

// Greater than `after`, less than `before`.
struct IdRange {
  std::int64_t after;
  std::int64_t before = kLast;

  void from_slice(std::int64_t slice) { after = std::max(after, first_id(slice).value_or(kLast) - 1); }
  void until_slice(std::int64_t slice) { before = std::min(before, first_id(slice + 1).value_or(kLast)); }
};

// One month's part of the page: ids, each once or more often, in any order; of every source as many as the page has.
class MonthSearch {
 public:
  MonthSearch(Connection& db, const TaskQuery& query, const std::string& month)
      : db_(db), query_(query), sql_(query), month_(month) {}

  std::vector<TaskId> ids() {
    in_order();
    if (query_.finished_at.restricts()) that_ended_late();
    if (query_.created_at.restricts()) stored_out_of_order();
    return std::move(ids_);
  }

 private:
  // Those whose times are as their ids say.
  void in_order() {
    IdRange range{number(query_.after)};
    if (const auto slice = slice_of(query_.created_at.from)) range.from_slice(*slice);
    if (const auto slice = slice_of(query_.created_at.until)) range.until_slice(*slice + 1);
    if (const auto slice = slice_of(query_.finished_at.from)) range.from_slice(*slice - 1);
    if (const auto slice = slice_of(query_.finished_at.until)) range.until_slice(*slice);
    if (query_.space.empty() || (query_.handler.empty() && !query_.outcome)) return walk(range);
    const std::string kinds = " INDEXED BY " + kinds_index(month_);
    if (!query_.handler.empty() && query_.outcome) return take(page(with_call(kinds)), range);
    if (query_.outcome) return of_every_handler(kinds, range);
    Statement of_outcome = page(with_call(kinds), " AND outcome = " + parameter(0));
    for (const Outcome outcome : task::all_outcomes()) take(of_outcome.bind(own(0), to_string(outcome)), range);
  }

  // The table has its rows by id.
  void walk(const IdRange& range) { take(page(with_call(" NOT INDEXED")), range); }

  void of_every_handler(const std::string& kinds, const IdRange& range) {
    Statement next = db_.prepare("SELECT method_name FROM " + month_ + kinds +
                                 " WHERE namespace = ?1 AND method_name > ?2 ORDER BY method_name LIMIT 1");
    Statement of_handler = page(with_call(kinds), " AND method_name = " + parameter(0));
    for (std::string handler;;) {
      Rows rows{next.bind(1, query_.space).bind(2, handler)};
      if (!rows.next()) return;
      handler = next.text(0);
      take(of_handler.bind(own(0), handler), range);
    }
  }

  void that_ended_late() {
    const std::string late = " INDEXED BY " + late_index(month_);
    const std::string is_late = " AND " + ended_late();
    Statement next = db_.prepare("SELECT " + finished_slice() + " FROM " + month_ + late + " WHERE " +
                                 finished_slice() + " >= ?1" + is_late + " ORDER BY " + finished_slice() + " LIMIT 1");
    Statement in_slice = page(with_call(late), is_late + " AND " + finished_slice() + " = " + parameter(0));
    const std::int64_t end = slice_of(query_.finished_at.until).value_or(kLast);
    std::int64_t slice = slice_of(query_.finished_at.from).value_or(std::numeric_limits<std::int64_t>::min());
    while (slice <= end) {
      Rows rows{next.bind(1, slice)};
      if (!rows.next()) return;
      slice = next.integer(0);
      if (slice > end) return;
      take(in_slice.bind(own(0), slice), {number(query_.after)});
      ++slice;
    }
  }

  void stored_out_of_order() {
    take(page("retry_call INDEXED BY " + kOutOfOrderIndex + " CROSS JOIN " + month_ + " USING (id)",
              " AND " + sqlite::stored_out_of_order()),
         {number(query_.after)});
  }

  // CROSS: the month is walked and each call looked up, never the other way round.
  std::string with_call(const std::string& index) const {
    return month_ + index + (sql_.asks_for_calls() ? " CROSS JOIN retry_call USING (id)" : "");
  }

  // Of these parameters the first follow those of the conditions: ?own(0) is free, then come the bounds and the limit.
  int own(int number) const { return sql_.parameters() + 1 + number; }
  std::string parameter(int number) const { return "?" + std::to_string(own(number)); }

  Statement page(const std::string& from, const std::string& more = {}) {
    Statement statement = db_.prepare("SELECT id FROM " + from + sql_.where() + more + " AND id > " + parameter(1) +
                                      " AND id < " + parameter(2) + " ORDER BY id LIMIT " + parameter(3));
    sql_.bind_texts(statement);
    return statement;
  }

  void take(Statement& page, const IdRange& range) {
    page.bind(own(1), range.after).bind(own(2), range.before).bind(own(3), limit_of(query_));
    Rows rows{page};
    while (rows.next()) ids_.push_back(TaskId{page.integer(0)});
  }
  void take(Statement&& page, const IdRange& range) { take(page, range); }

  Connection& db_;
  const TaskQuery& query_;
  const QuerySql sql_;
  const std::string& month_;
  std::vector<TaskId> ids_;
};

struct Place {
  TaskId id;
  std::size_t month;
  friend auto operator<=>(const Place&, const Place&) = default;
};

// Ascending.
std::vector<Place> first_places(Connection& db, const TaskQuery& query, const std::vector<std::string>& months) {
  std::vector<Place> places;
  for (std::size_t i = 0; i < months.size(); ++i) {
    for (const TaskId id : MonthSearch{db, query, months[i]}.ids()) places.push_back({id, i});
  }
  std::sort(places.begin(), places.end());
  places.erase(std::unique(places.begin(), places.end()), places.end());
  if (places.size() > query.limit)
    places.erase(places.begin() + static_cast<std::ptrdiff_t>(query.limit), places.end());
  return places;
}

}  // namespace

std::vector<TaskRecord> search_history(Connection& db, const TaskQuery& query, const std::vector<std::string>& months) {
  const std::vector<Place> places = first_places(db, query, months);
  std::vector<TaskRecord> records;
  for (std::size_t month = 0; month < months.size(); ++month) {
    std::vector<TaskId> ids;
    for (const Place& place : places) {
      if (place.month == month) ids.push_back(place.id);
    }
    if (ids.empty()) continue;
    Statement finished = db.prepare(sql::finished_records(months[month]));
    const IdList list{ids};
    bind_ids(finished, 1, list);
    Rows rows{finished};
    while (rows.next()) records.push_back(read_record(finished));
  }
  std::sort(records.begin(), records.end(),
            [](const TaskRecord& a, const TaskRecord& b) { return a.info.id < b.info.id; });
  return records;
}

}  // namespace easyretry::storage::sqlite
