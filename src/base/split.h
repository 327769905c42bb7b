#pragma once

#include <string_view>
#include <vector>

namespace easyretry::base {

// The parts between the separators: one more than there are separators, and any of them may be empty. They are views of
// `text`.
inline std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (auto end = text.find(separator); end != std::string_view::npos; end = text.find(separator)) {
    parts.push_back(text.substr(0, end));
    text.remove_prefix(end + 1);
  }
  parts.push_back(text);
  return parts;
}

}  // namespace easyretry::base
