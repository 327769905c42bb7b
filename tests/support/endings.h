#pragma once
// Ends by users, as a store gets them.

#include <span>
#include <vector>

#include "task/record.h"

namespace easyretry::test {

// Cancelled without a callback, unless `how` says otherwise.
inline std::vector<task::Ending> endings(std::span<const TaskId> ids, task::Ending how = {}) {
  std::vector<task::Ending> all;
  for (const TaskId id : ids) {
    how.id = id;
    all.push_back(how);
  }
  return all;
}

}  // namespace easyretry::test
