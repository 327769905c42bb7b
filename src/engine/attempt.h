#pragma once
// Runs one claimed task through its stage and says what is to be settled. Whatever user code throws ends here.

#include "engine/context.h"
#include "engine/run.h"

namespace easyretry::engine {

task::Settlement attempt(Run& run, Context& context);

}  // namespace easyretry::engine
