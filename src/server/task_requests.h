#pragma once
// Tasks and changes in request bodies, from JSON.

#include <optional>
#include <string>
#include <vector>

#include <easyretry/json_text.h>

#include "server/space.h"

namespace easyretry::server {

// One task, or {"tasks": […]}.
struct SubmittedTasks {
  std::vector<task::NewTask> tasks;
  bool one = true;
};
SubmittedTasks submitted_tasks(Space& space, JsonView body);

// Changes to the policy of a task: {"max_attempts": 40, "deadline": null}.
class PolicyPatch {
 public:
  // Throws Refusal for an unknown field or an empty object, and std::invalid_argument for an invalid value.
  explicit PolicyPatch(JsonView object);

  task::RetryRules applied_to(task::RetryRules rules) const;

 private:
  std::optional<int> max_attempts_;
  std::optional<Millis> max_duration_;
  std::optional<std::optional<TimePoint>> deadline_;  // inner nullopt: the deadline is removed
  std::optional<std::string> backoff_;
};

}  // namespace easyretry::server
