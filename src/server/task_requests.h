#pragma once
// Tasks and changes in request bodies, from JSON.

#include <optional>
#include <string>
#include <vector>

#include <easyretry/detail/json_text.h>

#include "server/namespace.h"

namespace easyretry::server {

// One task, or {"tasks": […]}.
struct SubmittedTasks {
  std::vector<task::NewTask> tasks;
  bool one = true;
};
SubmittedTasks submitted_tasks(Namespace& name_space, JsonView body);

// Arguments as they are stored, a JSON array. A single argument needs no array: {"order": 7} is [{"order": 7}].
std::string arguments_text(JsonView given);

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
