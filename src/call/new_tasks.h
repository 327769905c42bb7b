#pragma once
// Turns what a caller submits into a row, and refuses what must not become one.

#include <easyretry/submit.h>

#include "engine/context.h"

namespace easyretry::call {

// Throws std::invalid_argument naming what is wrong and what would be right.
task::NewTask new_task(const engine::Context& context, const engine::KnownHandler& handler,
                       detail::Submission submission);

}  // namespace easyretry::call
