#pragma once
// A request to a handler behind a URL, and its result.

#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include <easyretry/time.h>

#include "base/result.h"

namespace easyretry::webhook {

struct Header {
  std::string name;
  std::string value;
};

// Why this header may not be sent; nullopt if it may. A line break in a value would start another header or another
// request, and headers that define the length of a request or its receiver are set here only.
std::optional<std::string> objection(const Header& header);

// Any text as a header value: % and all characters other than visible ASCII are %-escaped.
std::string header_text(std::string_view text);

// Longer values are cut to this: a task that waits longer would look lost.
inline constexpr Millis kLongestRetryAfter = std::chrono::hours{24};

// Reads Retry-After: seconds or an HTTP date. The result is between 0, for a date in the past, and a day; nullopt if it
// is neither. Pure.
std::optional<Millis> parse_retry_after(std::string_view value, TimePoint now);

using CallId = std::uint64_t;  // increases from call to call

struct Call {
  std::string url;
  std::string body{};  // posted; an empty one could be sent twice (base/one_time_body.h)
  std::vector<Header> headers{};
  Millis timeout{30'000};  // from start() to the end, including the time in the queue
  std::stop_token stop{};  // ends the call at once
};

struct Answer {
  int status = 0;
  std::string body{};
  std::optional<Millis> retry_after{};

  // Redirects are not followed and do not count as success.
  bool succeeded() const { return status >= 200 && status < 300; }
};

// The text of an error says what happened and what can be done about it. Its code says what the handler knows:
//   invalid_argument   the call itself is invalid, or its address may not be called
//   unavailable        the handler has not received it
//   in_doubt           the handler may have run: the answer is missing, incomplete or too long
using CallResult = Result<Answer>;

}  // namespace easyretry::webhook
