#pragma once
// Turns what a caller submits into a row, and refuses what must not become one.

#include <optional>
#include <string>

#include <easyretry/submit.h>

#include "engine/context.h"

namespace easyretry::call {

// Throws std::invalid_argument naming what is wrong and what would be right. The arguments are of the handler's own
// version unless another one is given.
task::NewTask new_task(const engine::Context& context, const engine::KnownHandler& handler,
                       detail::Submission submission, std::optional<int> payload_version = {});

// The task as it would be stored, for those who are told of one that is not. Refuses nothing: what cannot be stored can
// still be spoken of. Without arguments no key is made of them.
TaskInfo describe(const engine::Context& context, const engine::KnownHandler& handler, const SubmitOptions& options,
                  const std::optional<std::string>& arguments);

}  // namespace easyretry::call
