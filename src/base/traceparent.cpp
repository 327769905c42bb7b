#include "base/traceparent.h"

#include <algorithm>

namespace easyretry::base {

std::optional<Traceparent> read_traceparent(std::string_view text) {
  constexpr std::string_view kForm = "00-00000000000000000000000000000000-0000000000000000-00";
  const bool has_form = std::ranges::equal(text, kForm, [](char c, char form) {
    return form == '-' ? c == '-' : (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
  });
  if (!has_form || text.starts_with("ff")) return std::nullopt;
  const auto is_zero = [](std::string_view id) { return id.find_first_not_of('0') == std::string_view::npos; };
  // The lowest bit of the flags: the last digit is odd.
  const bool sampled = std::string_view{"13579bdf"}.find(text.back()) != std::string_view::npos;
  const Traceparent read{text.substr(3, 32), text.substr(36, 16), sampled};
  if (is_zero(read.trace) || is_zero(read.span)) return std::nullopt;
  return read;
}

}  // namespace easyretry::base
