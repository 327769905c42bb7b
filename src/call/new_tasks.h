#pragma once
// Turns a submission, or a row of the inbox, into a task to be stored, and refuses what must not be stored.

#include <optional>
#include <string>

#include <easyretry/detail/handler_host.h>
#include <easyretry/submit.h>

#include "engine/core.h"
#include "storage/store.h"

namespace easyretry::call {

// Throws std::invalid_argument that names what is wrong and what would be right. The arguments are of the handler's own
// version unless another one is given.
task::NewTask new_task(const engine::Core& core, const engine::KnownHandler& handler, detail::Submission submission,
                       std::optional<int> payload_version = {});

// A row that plain SQL put into the inbox, by the rules of its handler as registered here; or why it is refused.
tl::expected<task::NewTask, std::string> task_from(engine::Core& core, storage::InboxRow row);

// The task as it would be stored, for listeners and callbacks of a call that is not. Refuses nothing. Without arguments
// no key is derived from them.
TaskInfo describe(const engine::Core& core, const engine::KnownHandler& handler, const SubmitOptions& options,
                  const std::optional<std::string>& arguments);

}  // namespace easyretry::call
