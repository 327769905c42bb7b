#pragma once
// Failures by kind of error (task/error_kind.h).

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <easyretry/task.h>

namespace easyretry::server {

struct ErrorGroup {
  std::string kind{};
  std::int64_t count = 0;
  TimePoint first_seen{};
  TimePoint last_seen{};
  std::set<std::string> handlers{};
  std::vector<TaskId> ids{};               // of the newest tasks
  std::array<std::int64_t, 24> by_hour{};  // of the last 24 h; the last is the hour until now
};

// Groups failures by kind. The number of groups is bounded: errors of further kinds share one group.
class ErrorGroups {
 public:
  static constexpr std::size_t kMostKinds = 1000;
  static constexpr std::size_t kMostHandlers = 20;  // of a group
  static constexpr std::size_t kSamples = 5;
  static constexpr std::string_view kOthers = "(errors of other kinds)";

  explicit ErrorGroups(TimePoint now) : now_(now) {}
  void add(const TaskInfo& task, TimePoint failed_at);
  // The largest first.
  std::vector<ErrorGroup> largest(std::size_t most) const;

 private:
  const TimePoint now_;
  std::map<std::string, ErrorGroup> by_kind_;
};

}  // namespace easyretry::server
