#pragma once
// An alert message and its plain text. A task's arguments and result are never part of it; text that comes from tasks
// is on one line and of bounded length. Pure.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <easyretry/time.h>

namespace easyretry::alert {

enum class Kind { final_failure, quarantine, backlog_age, circuit_open, failure_rate };

struct Sample {
  std::string task_id;
  std::string key;
  std::string error;
};

struct Message {
  Kind kind = Kind::final_failure;
  bool resolved = false;  // backlog_age, circuit_open, failure_rate: back to normal
  bool test = false;      // sent by `easyretry alert test`: nothing has happened
  std::string rule{};
  std::string name_space{};
  std::string handler{};       // circuit_open: the circuit
  std::uint64_t count = 0;     // of tasks; failure_rate: of failed attempts
  std::uint64_t attempts = 0;  // failure_rate: of all attempts
  Millis within{};             // the time in which these were counted
  Millis age{};                // backlog_age, circuit_open
  Millis age_limit{};          // the same
  int rate_limit = 0;          // failure_rate, in percent
  std::vector<Sample> samples{};
};

// The result of sending a message. The last three are for a message that did not arrive.
struct SendResult {
  bool arrived = false;
  bool worth_retrying = false;
  std::optional<Millis> retry_after{};
  std::string why{};
};

inline constexpr std::size_t kLongestKey = 100;
inline constexpr std::size_t kLongestError = 200;

// Valid UTF-8 without control characters, cut to `most` bytes.
std::string one_line(std::string_view text, std::size_t most);

std::string_view name_of(Kind kind);  // "final_failure"

// "[EasyRetry] payment.pay: 5 final failures within 2m"
std::string headline(const Message& message);
// The lines below the headline.
std::vector<std::string> details(const Message& message);
// The headline and the details, one per line.
std::string full_text(const Message& message);

}  // namespace easyretry::alert
