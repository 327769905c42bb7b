#include "storage/sql/searches.h"

#include <algorithm>
#include <iterator>

#include "storage/history.h"

namespace easyretry::storage::sql {

// Live first: a task that ends meanwhile is then met in history.
std::vector<TaskRecord> Searches::find(std::span<const TaskId> ids, TimePoint now) {
  std::set<TaskId> wanted{ids.begin(), ids.end()};
  if (wanted.empty()) return {};
  auto found = LiveRows{session_, tables_, now}.find(std::vector<TaskId>{wanted.begin(), wanted.end()});
  for (const TaskRecord& record : found) wanted.erase(record.info.id);
  auto finished = find_finished(std::move(wanted));
  std::move(finished.begin(), finished.end(), std::back_inserter(found));
  return found;
}

// Newest months first: people seldom ask for old tasks.
std::vector<TaskRecord> Searches::find_finished(std::set<TaskId> wanted) {
  std::vector<TaskRecord> found;
  if (wanted.empty()) return found;
  for (const std::string& table : tables_.histories(session_)) {
    const std::vector<TaskId> ids{wanted.begin(), wanted.end()};
    for (TaskRecord& record : session_.find(table, true, ids)) {
      wanted.erase(record.info.id);
      found.push_back(std::move(record));
    }
    if (wanted.empty()) break;
  }
  return found;
}

std::vector<Search> Searches::in_tables(const TaskQuery& query) {
  std::vector<Search> searches;
  if (query.finished) {
    for (const std::string& table : tables_.histories(session_)) {
      if (overlaps(*month_of_history_table(table), query.finished_at)) searches.push_back({query, table, true});
    }
  } else {
    tables_.look_again(session_);
    for (const TableId table : tables_.tasks(session_)) {
      searches.push_back({query, tables_.router().name(table), false});
    }
  }
  return searches;
}

std::vector<TaskRecord> Searches::list(const TaskQuery& query) {
  std::vector<TaskRecord> records;
  if (query.limit == 0) return records;
  for (const Search& search : in_tables(query)) {
    auto page = session_.page(search);
    std::move(page.begin(), page.end(), std::back_inserter(records));
  }
  std::sort(records.begin(), records.end(),
            [](const TaskRecord& a, const TaskRecord& b) { return a.info.id < b.info.id; });
  // A task that was moved to a younger table meanwhile was found in both.
  const auto same = [](const TaskRecord& a, const TaskRecord& b) { return a.info.id == b.info.id; };
  records.erase(std::unique(records.begin(), records.end(), same), records.end());
  if (records.size() > query.limit) {
    records.erase(records.begin() + static_cast<std::ptrdiff_t>(query.limit), records.end());
  }
  return records;
}

std::int64_t Searches::count(const TaskQuery& query) {
  std::int64_t total = 0;
  for (const Search& search : in_tables(query)) total += session_.count(search);
  return total;
}

}  // namespace easyretry::storage::sql
