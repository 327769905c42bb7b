#pragma once

#include "engine/context.h"
#include "storage/inbox.h"

namespace easyretry::call {

// What was asked for by plain SQL, by the rules of its handler as they are here.
tl::expected<task::NewTask, std::string> task_from(const engine::Context& context, storage::InboxRow row);

}  // namespace easyretry::call
