#include "webhook/call.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <string>

#include <curl/curl.h>

#include "webhook/address.h"

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

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r\n";
  const auto begin = text.find_first_not_of(kBlank);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlank) - begin + 1);
}

Millis of_seconds(std::string_view digits) {
  constexpr auto kMost = std::chrono::duration_cast<std::chrono::seconds>(kLongestRetryAfter).count();
  long long count = 0;
  const auto error = std::from_chars(digits.data(), digits.data() + digits.size(), count).ec;
  if (error == std::errc::result_out_of_range || count > kMost) return kLongestRetryAfter;
  return std::chrono::seconds{count};
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

std::optional<Millis> parse_retry_after(std::string_view value, TimePoint now) {
  const std::string_view text = trimmed(value);
  if (text.empty() || text.find('\0') != std::string_view::npos) return std::nullopt;
  if (text.find_first_not_of("0123456789") == std::string_view::npos) return of_seconds(text);
  const std::time_t date = curl_getdate(std::string{text}.c_str(), nullptr);
  if (date < 0) return std::nullopt;
  // A ten-digit year does not fit into milliseconds.
  const auto last = std::chrono::ceil<std::chrono::seconds>(now + kLongestRetryAfter);
  const TimePoint then = std::min(std::chrono::sys_seconds{std::chrono::seconds{date}}, last);
  return std::clamp(then - now, Millis{0}, kLongestRetryAfter);
}

}  // namespace easyretry::webhook
