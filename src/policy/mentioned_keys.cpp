#include "policy/mentioned_keys.h"

#include <algorithm>

namespace easyretry::policy {
namespace {

// As in Lua, whatever the locale.
bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || is_digit(c);
}

std::size_t skip(std::string_view text, std::size_t at, bool (*kind)(char)) {
  while (at < text.size() && kind(text[at])) ++at;
  return at;
}

bool is_plain_index(std::string_view text, std::size_t bracket) {
  const std::size_t end = skip(text, bracket + 1, &is_digit);
  return end > bracket + 1 && end < text.size() && text[end] == ']';
}

}  // namespace

MentionedKeys::MentionedKeys(std::string_view expression) {
  for (std::size_t at = 0; at < expression.size();) {
    if (expression[at] == '[' && !is_plain_index(expression, at)) any_ = true;
    const std::size_t end = skip(expression, at, &is_word);
    if (end > at) words_.emplace_back(expression.substr(at, end - at));
    at = std::max(end, at + 1);
  }
}

bool MentionedKeys::contains(std::string_view key) const {
  return any_ || std::find(words_.begin(), words_.end(), key) != words_.end();
}

}  // namespace easyretry::policy
