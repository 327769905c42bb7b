#pragma once
// A message in words, as plain text. Whatever comes from tasks is on one line and of a bounded length. Pure.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "alert/message.h"

namespace easyretry::alert {

inline constexpr std::size_t kLongestKey = 100;
inline constexpr std::size_t kLongestError = 200;

// Valid UTF-8 without control characters, cut to so many bytes.
std::string one_line(std::string_view text, std::size_t most);

std::string_view name_of(Kind kind);  // "final_failure"

// "[EasyRetry] payment.pay: 5 tasks failed for good within 2m"
std::string headline(const Message& message);
// What is below it, a line each.
std::vector<std::string> details(const Message& message);
// Both, one below the other.
std::string full_text(const Message& message);

}  // namespace easyretry::alert
