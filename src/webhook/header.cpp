#include "webhook/header.h"

#include <algorithm>
#include <array>

#include "webhook/host_name.h"

namespace easyretry::webhook {
namespace {

constexpr std::array<std::string_view, 8> kOurs{
    "host", "content-length", "transfer-encoding", "connection", "expect", "te", "trailer", "upgrade"};

bool is_of_a_name(char c) {
  constexpr std::string_view kOthers = "!#$%&'*+-.^_`|~";  // RFC 9110, 5.6.2
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         kOthers.find(c) != std::string_view::npos;
}

bool is_of_a_value(unsigned char c) {
  return c == '\t' || (c >= ' ' && c != 0x7f);
}

bool is_visible(unsigned char c) {
  return c > ' ' && c < 0x7f;
}

}  // namespace

std::optional<std::string> objection(const Header& header) {
  if (header.name.empty() || !std::ranges::all_of(header.name, is_of_a_name)) {
    return "\"" + header_text(header.name) + "\" is not a header name";
  }
  if (std::ranges::find(kOurs, lower_case(header.name)) != kOurs.end()) {
    return "the header " + header.name + " must not be set";
  }
  if (!std::ranges::all_of(header.value, is_of_a_value)) {
    return "the header " + header.name + " contains a line break or another control character";
  }
  return std::nullopt;
}

std::string header_text(std::string_view text) {
  constexpr std::string_view kHex = "0123456789ABCDEF";
  std::string escaped;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (is_visible(byte) && c != '%') {
      escaped.push_back(c);
    } else {
      escaped.append({'%', kHex[byte >> 4], kHex[byte & 15]});
    }
  }
  return escaped;
}

}  // namespace easyretry::webhook
