#pragma once

#include <string>
#include <string_view>

namespace easyretry::seal {

inline constexpr std::size_t kMaxKeyId = 64;

// 1 to 64 of A-Z a-z 0-9 . _ -: stands in JSON, file names and messages as it is.
bool is_key_id(std::string_view id);

// For messages: in quotes, with ? for what could not be an id, and not longer than one.
std::string quoted_key_id(std::string_view id);

}  // namespace easyretry::seal
