#pragma once
// A message as mx-rmq has it in Redis: JSON with camelCase names, times in milliseconds since 1970, delays in seconds.

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <easyretry/mxrmq.h>

namespace easyretry::mxrmq {

enum class Status { pending, processing, completed, retrying, dead_letter, stuck_timeout };

// In the order in which Python writes them. What is not there is left out.
struct Meta {
  Status status = Status::pending;
  std::int64_t delay = 0;
  std::int64_t retry_count = 0;
  std::int64_t max_retries = 3;
  std::vector<std::int64_t> retry_delays{60, 300, 1800};
  std::optional<std::string> last_error{};
  std::int64_t expire_at = 0;
  std::int64_t created_at = 0;
  std::int64_t updated_at = 0;
  std::optional<std::int64_t> last_retry_at{};
  std::optional<std::int64_t> processing_started_at{};
  std::optional<std::int64_t> completed_at{};
  std::optional<std::int64_t> dead_letter_at{};
  std::optional<std::int64_t> stuck_detected_at{};
  std::optional<std::string> stuck_reason{};
  std::optional<std::int64_t> retried_from_dlq_at{};
  friend bool operator==(const Meta&, const Meta&) = default;
};

struct Message {
  std::string id;
  std::string version = "1.0";
  std::string topic;
  Priority priority = Priority::normal;
  std::int64_t created_at = 0;
  Meta meta{};
  std::string payload;  // a JSON object, as it is written
  friend bool operator==(const Message&, const Message&) = default;
};

class MessageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Throws MessageError for what Python could not read, either. Like Python, it takes a number in quotes, or one that
// ends in .0, for an integer; a field that is missing has its default, a time 0.
Message parse_message(std::string_view json);

// Of a new message, as Python writes it.
std::string to_json(const Message& message);

// The text with the meta that it has now. All else stays as it was, byte for byte, also fields that nobody here knows.
std::string rewritten(std::string_view json, const Meta& now);

inline constexpr std::size_t kErrorCharacters = 50;
inline constexpr std::size_t kParseErrorCharacters = 20;
// At most so many characters (not bytes), as Python counts; storable as UTF-8.
std::string first_characters(std::string_view text, std::size_t most);

// What is kept of a message that cannot be read: as Python would, but whole.
std::string parse_error_record(std::string_view id, std::string_view json, std::string_view topic, std::string_view why,
                               std::int64_t now);

}  // namespace easyretry::mxrmq
