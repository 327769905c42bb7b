#include "webhook/host_name.h"

#include <algorithm>

namespace easyretry::webhook {
namespace {

constexpr std::size_t kLongest = 253;  // RFC 1035

bool is_of_a_label(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
}

}  // namespace

std::string lower_case(std::string_view ascii) {
  std::string text{ascii};
  std::ranges::transform(text, text.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? char(c - 'A' + 'a') : c; });
  return text;
}

bool is_host_name(std::string_view text) {
  if (text.empty() || text.size() > kLongest || text.front() == '.' || text.back() == '.') return false;
  return text.find("..") == std::string_view::npos &&
         std::ranges::all_of(text, [](char c) { return is_of_a_label(c) || c == '.'; });
}

}  // namespace easyretry::webhook
