#include "storage/statement.h"

#include <algorithm>
#include <stdexcept>

namespace easyretry::storage {
namespace {

// The length of a name in braces at the beginning of `text`, with its braces; 0 if there is none. '{}' is an empty
// array.
std::size_t placeholder_at(std::string_view text) {
  const auto end = std::ranges::find_if(text.substr(1), [](char c) { return (c < 'a' || c > 'z') && c != '_'; });
  const auto length = static_cast<std::size_t>(end - text.begin());
  return length > 1 && length < text.size() && *end == '}' ? length + 1 : 0;
}

}  // namespace

std::string Statement::with(Values values) const {
  std::string filled;
  filled.reserve(text.size() + 64);
  std::size_t used = 0;
  std::string_view rest = text;
  for (std::size_t brace = rest.find('{'); brace != rest.npos; brace = rest.find('{')) {
    filled.append(rest.substr(0, brace));
    rest.remove_prefix(brace);
    const std::size_t length = placeholder_at(rest);
    if (length == 0) {
      filled.push_back('{');
      rest.remove_prefix(1);
      continue;
    }
    const std::string_view wanted = rest.substr(1, length - 2);
    const auto value = std::ranges::find(values, wanted, [](const auto& pair) { return pair.first; });
    if (value == values.end()) throw std::logic_error(std::string{name} + ".sql: no value for " + std::string{wanted});
    used |= std::size_t{1} << (value - values.begin());
    filled.append(value->second);
    rest.remove_prefix(length);
  }
  if (used + 1 != std::size_t{1} << values.size())
    throw std::logic_error(std::string{name} + ".sql: a value is not used");
  return filled.append(rest);
}

}  // namespace easyretry::storage
