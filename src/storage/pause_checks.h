#pragma once
// What every store refuses to pause.

#include <cstddef>
#include <optional>
#include <string_view>

#include <easyretry/error.h>

namespace easyretry::storage {

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
