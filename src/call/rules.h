#pragma once

#include <easyretry/policy.h>

#include "task/record.h"

namespace easyretry::call {

// The part of a policy that a task carries. Throws std::invalid_argument for one that cannot work, or that says what
// only a handler can.
task::RetryRules rules_of(const Policy& policy);

}  // namespace easyretry::call
