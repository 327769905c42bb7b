#pragma once
// Which tasks are to be listed or counted.

#include <cstddef>
#include <optional>
#include <string>

#include <easyretry/task.h>

namespace easyretry {

// From one moment until before another; without one of them, without end on that side.
struct TimeRange {
  std::optional<TimePoint> from{};
  std::optional<TimePoint> until{};

  bool restricts() const { return from || until; }
  bool contains(TimePoint time) const { return (!from || time >= *from) && (!until || time < *until); }
};

// Conditions are joined by "and"; an empty one does not restrict.
struct TaskQuery {
  std::string space{};    // an Engine asks for its own, whatever is said here
  bool finished = false;  // search history instead of what is to be done
  std::string key{};
  std::string handler{};
  std::string business_type{};
  std::string business_id{};
  std::optional<TaskState> state{};
  std::optional<Outcome> outcome{};
  TimeRange created_at{};
  TimeRange finished_at{};  // only finished tasks have it. Months outside are not looked at
  bool requeued = false;    // history: also tasks that were started again (TaskInfo::requeued_as)
  TaskId after{};           // paging: ids greater than this one
  std::size_t limit = 100;
};

}  // namespace easyretry
