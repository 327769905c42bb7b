#pragma once

#include <charconv>
#include <cstddef>
#include <string_view>

namespace easyretry::bench {

// Of head and body of a message as EasyRetry writes it; 0 while the head has not come as a whole. Nothing else is
// parsed: whoever makes the load shares processors with the daemon, and must not be what is measured.
inline std::size_t message_length(std::string_view bytes) {
  constexpr std::string_view kEndOfHead = "\r\n\r\n";
  constexpr std::string_view kLength = "\r\nContent-Length: ";
  const auto end = bytes.find(kEndOfHead);
  if (end == std::string_view::npos) return 0;
  std::size_t body = 0;
  const auto length = bytes.find(kLength);
  if (length < end) std::from_chars(bytes.data() + length + kLength.size(), bytes.data() + end, body);
  return end + kEndOfHead.size() + body;
}

}  // namespace easyretry::bench
