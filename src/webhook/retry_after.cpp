#include "webhook/retry_after.h"

#include <algorithm>
#include <charconv>
#include <string>

#include <curl/curl.h>

namespace easyretry::webhook {
namespace {

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

std::optional<Millis> parse_retry_after(std::string_view value, TimePoint now) {
  const std::string_view text = trimmed(value);
  if (text.empty() || text.find('\0') != std::string_view::npos) return std::nullopt;
  if (text.find_first_not_of("0123456789") == std::string_view::npos) return of_seconds(text);
  const std::time_t date = curl_getdate(std::string{text}.c_str(), nullptr);
  if (date < 0) return std::nullopt;
  // A year of ten digits does not fit into milliseconds.
  const auto last = std::chrono::ceil<std::chrono::seconds>(now + kLongestRetryAfter);
  const TimePoint then = std::min(std::chrono::sys_seconds{std::chrono::seconds{date}}, last);
  return std::clamp(then - now, Millis{0}, kLongestRetryAfter);
}

}  // namespace easyretry::webhook
