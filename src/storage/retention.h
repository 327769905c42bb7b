#pragma once
// Ended tasks that a handler keeps for a shorter time than the store keeps all of them.
//
// A sweep never looks at a task twice. It walks the tasks in the order of their end, and the store remembers for each
// handler up to which end it has walked. Rules may change at any time: the next walk continues at the same place.

#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "storage/store.h"

namespace easyretry::storage {

// True for a task whose arguments were removed. The arguments of a call are a JSON array, so they are never empty.
inline bool lacks_arguments(const TaskRecord& ended) {
  return ended.payload.empty();
}

enum class Expiry {
  tasks,
  arguments,  // alone
};

// Tasks that ended before this time have been removed.
struct SweptUntil {
  TimePoint tasks{};
  TimePoint arguments{};
};
using HandlerName = std::pair<std::string, std::string>;  // namespace and name
using RetentionMarks = std::map<HandlerName, SweptUntil>;

// One pass over the tasks that ended from `from` on and before `until`.
struct Walk {
  std::string name_space;
  std::vector<std::string> handlers;
  Expiry what = Expiry::tasks;
  TimePoint from{};
  TimePoint until{};
};

// Handlers that begin and end at the same place share a walk. In time, this is true for all handlers of a namespace
// with the same retention.
std::vector<Walk> walks(std::span<const Retention> rules, const RetentionMarks& marks, TimePoint now);

}  // namespace easyretry::storage
