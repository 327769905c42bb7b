#pragma once
// A message as mx-rmq stores it in Redis: JSON with camelCase names, times in milliseconds since 1970, delays in
// seconds.

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <easyretry/mxrmq.h>

namespace easyretry::mxrmq {

enum class Status { pending, processing, completed, retrying, dead_letter, stuck_timeout };

// In the order in which Python writes them. Empty optionals are left out.
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
  std::string payload;  // a JSON object, byte for byte
  friend bool operator==(const Message&, const Message&) = default;
};

class MessageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Throws MessageError for what Python cannot read either. Like Python, it accepts a quoted number, or one that ends in
// .0, as an integer. A missing field has its default, a missing time is 0.
Message parse_message(std::string_view json);

// A new message, as Python writes it.
std::string to_json(const Message& message);

// The text with this meta. Everything else stays as it is, byte for byte, including unknown fields.
std::string rewritten(std::string_view json, const Meta& now);

inline constexpr std::size_t kErrorCharacters = 50;
inline constexpr std::size_t kParseErrorCharacters = 20;
// At most this many characters (not bytes), as Python counts them; valid UTF-8.
std::string first_characters(std::string_view text, std::size_t most);

// The record of a message that cannot be parsed: as Python writes it, but with the whole message.
std::string parse_error_record(std::string_view id, std::string_view json, std::string_view topic, std::string_view why,
                               std::int64_t now);

// A random UUID, the format of ids in Python.
std::string new_id();

}  // namespace easyretry::mxrmq
