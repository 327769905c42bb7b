#pragma once
// What every store says of an insert that it refuses before it looks at what it holds, or that fails.

#include <optional>
#include <span>
#include <string_view>

#include "storage/store.h"

namespace easyretry::storage {

// An empty space, key or handler, or two tasks of the batch with one key where one of them asks for
// OnDuplicate::reject.
std::optional<Error> refuse_batch(std::span<const NewTask> tasks, std::string_view where);

// OnDuplicate::reject met a live task.
Error duplicate(std::string_view where, std::string_view key, TaskId there);

// Of an insert that would have been answered with this reply: where it is in doubt, what was to be stored has ids.
InsertFailure failure(Error error, const InsertReply& unsaid);

}  // namespace easyretry::storage
