#include "call/rules.h"

#include <stdexcept>

#include "policy/decide.h"

namespace easyretry::call {

task::RetryRules rules_of(const Policy& policy) {
  validate(policy);
  if (!policy.retry_on.empty() || !policy.never_retry.empty() || !policy.success_when.empty()) {
    throw std::invalid_argument(
        "a task has its own backoff and stop rules, but retry_on, never_retry and success_when belong to its handler; "
        "leave them out");
  }
  return {policy.stop.max_attempts, policy.stop.max_duration, policy.stop.deadline, policy::to_text(policy.backoff)};
}

}  // namespace easyretry::call
