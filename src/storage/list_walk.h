#pragma once
// How a store walks a list: by id in one of the two directions, from a place that is not part of it.

#include <algorithm>
#include <limits>
#include <string_view>
#include <vector>

#include "task/record.h"
#include "task/task_id.h"

namespace easyretry::storage {

class ListWalk {
 public:
  explicit ListWalk(const TaskQuery& query)
      : down_(query.order == ListOrder::newest_first), limit_(query.limit), from_(query.after) {
    // Going down, the place before all tasks is not 0.
    if (down_ && from_ == TaskId{}) from_ = TaskId{std::numeric_limits<std::int64_t>::max()};
  }

  bool down() const { return down_; }
  TaskId from() const { return from_; }
  bool precedes(TaskId a, TaskId b) const { return down_ ? b < a : a < b; }
  bool reaches(TaskId id) const { return precedes(from_, id); }

  // The ids on the way to `last`, including it.
  task::IdBounds up_to(TaskId last) const {
    if (down_) return {.from = last};
    return {.until = TaskId{static_cast<std::int64_t>(last) + 1}};
  }

  // As SQL: "id > 17 ORDER BY id ASC".
  std::string_view beyond() const { return down_ ? "<" : ">"; }
  std::string_view direction() const { return down_ ? "DESC" : "ASC"; }

  void sort(std::vector<task::TaskRecord>& records) const {
    std::ranges::sort(
        records, [this](TaskId a, TaskId b) { return precedes(a, b); }, id_of);
  }

  // Makes a page of records that were found in several places: each task once, even if a move let it be found twice.
  void cut_to_page(std::vector<task::TaskRecord>& records) const {
    sort(records);
    const auto twice = std::ranges::unique(records, {}, id_of);
    records.erase(twice.begin(), twice.end());
    if (records.size() > limit_) records.erase(records.begin() + static_cast<std::ptrdiff_t>(limit_), records.end());
  }

 private:
  static TaskId id_of(const task::TaskRecord& record) { return record.info.id; }

  bool down_;
  std::size_t limit_;
  TaskId from_;
};

}  // namespace easyretry::storage
