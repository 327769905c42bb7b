#pragma once
// The requests that every store refuses before it reads anything, and the messages.

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

#include "storage/store.h"

namespace easyretry::storage {

// --- Inserts ---

// Refuses an empty namespace, key or handler, and two tasks of the batch with the same key if one of them has
// OnDuplicate::reject.
std::optional<Error> refuse_batch(std::span<const NewTask> tasks, std::string_view where);

// For a task with OnDuplicate::reject whose key is live.
Error duplicate(std::string_view where, std::string_view key, TaskId there);

// For an insert whose answer would have been this reply. If the error is in doubt, the failure has the new tasks' ids.
InsertFailure failure(Error error, const InsertReply& unsent);

// --- Pauses ---

// Per namespace. Every instance that claims reads the whole list every second.
inline constexpr std::size_t kMostPaused = 1000;

inline constexpr std::size_t kLongestHandlerName = 200;  // bytes
inline constexpr std::size_t kLongestReason = 200;       // characters

// The number of characters in a text in UTF-8.
std::size_t characters(std::string_view text);

// Names and reasons are UTF-8 text without NUL.
std::optional<Error> refuse_pause(std::string_view name_space, std::string_view handler, std::string_view why,
                                  std::string_view where);

// The outcome of a request to pause a handler.
enum class PauseOutcome { paused, was_paused, too_many };
// The same as the answer of Store::pause().
Result<bool> answer_of(PauseOutcome outcome, std::string_view where);

}  // namespace easyretry::storage
