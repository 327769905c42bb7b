#pragma once
// Paths in error messages: $[0].amount, $["an odd key"].

#include <algorithm>
#include <string>
#include <string_view>

namespace easyretry::base {

inline bool is_identifier(std::string_view key) {
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  return !key.empty() && !digit(key.front()) &&
         std::all_of(key.begin(), key.end(), [&](char c) { return letter(c) || digit(c); });
}

inline std::string path_step(std::string_view key) {
  if (is_identifier(key)) return "." + std::string{key};
  return "[\"" + std::string{key} + "\"]";
}

inline std::string path_step(std::size_t index) {
  return "[" + std::to_string(index) + "]";
}

}  // namespace easyretry::base
