#pragma once
// Selects tasks to list or count.

#include <cstddef>
#include <optional>
#include <string>

#include <easyretry/task.h>

namespace easyretry {

// A half-open interval: `from` is included, `until` is not. Either end may be left open.
struct TimeRange {
  std::optional<TimePoint> from{};
  std::optional<TimePoint> until{};

  bool restricts() const { return from || until; }
  bool contains(TimePoint time) const { return (!from || time >= *from) && (!until || time < *until); }
};

// All conditions must hold; an empty condition matches everything.
struct TaskQuery {
  std::string space{};    // the namespace; ignored by an Engine, which uses its own
  bool finished = false;  // search history instead of live tasks
  std::string key{};
  std::string handler{};
  std::string business_type{};
  std::string business_id{};
  std::optional<TaskState> state{};
  std::optional<Outcome> outcome{};
  TimeRange created_at{};
  TimeRange finished_at{};  // only for finished tasks; months outside the range are not read
  bool requeued = false;    // in history: include tasks that were requeued (TaskInfo::requeued_as)
  TaskId after{};           // for paging: only ids greater than this one
  std::size_t limit = 100;
};

}  // namespace easyretry
