#pragma once
// One sentence about the reason why a task waits.

#include <optional>

#include <easyretry/stats.h>

#include "server/namespace.h"
#include "server/task_answers.h"

namespace easyretry::server {

// The facts other than the task itself.
struct Surroundings {
  TimePoint now{};                        // of the store
  std::optional<PausedHandler> paused{};  // its handler, if it is
  std::optional<CircuitInfo> circuit{};   // of its handler, if it is open
  std::optional<CircuitInfo> budget{};    // of its handler, if it holds retries back
  std::optional<LimitInfo> limit{};       // of its handler or its circuit, if it holds tasks back
  bool served = true;                     // an instance or a worker takes tasks of its handler
};

WaitsFor waits_for(const task::TaskRecord& record, const Surroundings& around);

// Asks the store which handlers are paused. Throws StoreError.
WaitsFor waits_for(Namespace& name_space, const task::TaskRecord& record);

}  // namespace easyretry::server
