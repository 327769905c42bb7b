#include "server/policy_patch.h"

#include <limits>

#include "policy/decide.h"
#include "policy/limits.h"
#include "server/fields.h"
#include "server/refusal.h"

namespace easyretry::server {

PolicyPatch::PolicyPatch(JsonView object) {
  Fields fields{object};
  if (fields.find("max_attempts")) {
    max_attempts_ = static_cast<int>(fields.number("max_attempts", 0, 0, std::numeric_limits<int>::max()));
  }
  max_duration_ = fields.millis("max_duration_ms", policy::kLongestDelay);
  if (object.find("deadline")) deadline_ = fields.time("deadline");
  if (fields.find("backoff")) backoff_ = policy::to_text(policy::parse_backoff(fields.text("backoff")));
  fields.end();
  if (!max_attempts_ && !max_duration_ && !deadline_ && !backoff_) {
    throw Refusal{{422, "invalid", object.path() + ": nothing to change",
                   "give max_attempts, max_duration_ms, deadline or backoff"}};
  }
  validate(Policy{.stop = {.max_attempts = max_attempts_.value_or(0)}});
}

task::RetryRules PolicyPatch::applied_to(task::RetryRules rules) const {
  if (max_attempts_) rules.max_attempts = *max_attempts_;
  if (max_duration_) rules.max_duration = *max_duration_;
  if (deadline_) rules.deadline = *deadline_;
  if (backoff_) rules.backoff = *backoff_;
  return rules;
}

}  // namespace easyretry::server
