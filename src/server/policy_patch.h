#pragma once
// What is to change of the policy that a task carries, from JSON: {"max_attempts": 40, "deadline": null}.

#include <optional>
#include <string>

#include <easyretry/json_text.h>

#include "task/record.h"

namespace easyretry::server {

class PolicyPatch {
 public:
  // Throws Refusal for a field that is not known, or where there is none, and std::invalid_argument for a value that
  // cannot work.
  explicit PolicyPatch(JsonView object);

  task::RetryRules applied_to(task::RetryRules rules) const;

 private:
  std::optional<int> max_attempts_;
  std::optional<Millis> max_duration_;
  std::optional<std::optional<TimePoint>> deadline_;  // inside nothing: it is taken away
  std::optional<std::string> backoff_;
};

}  // namespace easyretry::server
