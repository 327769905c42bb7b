#pragma once
// What every store refuses before it looks at what it holds, and how it says so.

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

#include "storage/store.h"

namespace easyretry::storage {

// --- Inserts ---

// An empty space, key or handler, or two tasks of the batch with one key where one of them asks for
// OnDuplicate::reject.
std::optional<Error> refuse_batch(std::span<const NewTask> tasks, std::string_view where);

// OnDuplicate::reject met a live task.
Error duplicate(std::string_view where, std::string_view key, TaskId there);

// Of an insert that would have been answered with this reply: where it is in doubt, what was to be stored has ids.
InsertFailure failure(Error error, const InsertReply& unsaid);

// --- Pauses ---

// Of a namespace. Everybody who claims reads the whole list every second.
inline constexpr std::size_t kMostPaused = 1000;

inline constexpr std::size_t kLongestHandlerName = 200;  // bytes
inline constexpr std::size_t kLongestReason = 200;       // characters

// Names and reasons are UTF-8 text without NUL.
std::optional<Error> refuse_pause(std::string_view space, std::string_view handler, std::string_view why,
                                  std::string_view where);

// What a store came to that was asked to pause a handler.
enum class Pausing { done, was_paused, too_many };
// The same as an answer of Store::pause().
Result<bool> answer_of(Pausing pausing, std::string_view where);

}  // namespace easyretry::storage
