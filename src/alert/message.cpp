#include "alert/message.h"

#include <algorithm>

#include "base/duration_text.h"
#include "base/harmless.h"
#include "base/utf8.h"

namespace easyretry::alert {
namespace {

using namespace std::chrono;

constexpr std::size_t kLongestName = 200;
constexpr std::uint64_t kPercent = 100;

// Rounded down, in the largest unit of which there are at least two: 754321 ms is 12m.
std::string about(Millis time) {
  if (time >= 48h) return base::to_text(floor<days>(time));
  if (time >= 2h) return base::to_text(floor<hours>(time));
  if (time >= 2min) return base::to_text(floor<minutes>(time));
  return base::to_text(floor<seconds>(time));
}

// "1 task", "2 tasks"
std::string counted(std::uint64_t count, std::string_view noun) {
  return std::to_string(count).append(" ").append(noun).append(count == 1 ? "" : "s");
}

// A time makes sense only for several tasks.
std::string counted_within(const Message& message) {
  return message.count > 1 ? " within " + about(std::max<Millis>(message.within, 1s)) : "";
}

std::string rate(const Message& message) {
  const std::uint64_t percent = message.attempts == 0 ? 0 : message.count * kPercent / message.attempts;
  return std::to_string(message.count) + " of " + std::to_string(message.attempts) + " attempts failed within " +
         about(message.within) + " (" + std::to_string(percent) + "%, limit " + std::to_string(message.rate_limit) +
         "%)";
}

std::string description(const Message& message) {
  switch (message.kind) {
    case Kind::final_failure: return counted(message.count, "final failure") + counted_within(message);
    case Kind::quarantine:
      return counted(message.count, "task") + " quarantined after killing " + (message.count == 1 ? "its" : "their") +
             " workers" + counted_within(message);
    case Kind::backlog_age:
      return (message.resolved ? "the oldest due task has waited for " : "a task has been due for ") +
             about(message.age) + " (limit " + about(message.age_limit) + ")";
    case Kind::circuit_open:
      if (message.resolved) return "the circuit is closed again";
      return "the circuit has been open for " + about(message.age) + " (limit " + about(message.age_limit) +
             "), and tasks are held back";
    case Kind::failure_rate: return rate(message);
  }
  return "";
}

}  // namespace

std::string one_line(std::string_view text, std::size_t most) {
  constexpr std::size_t kLongestCharacter = 4;
  const std::string line = base::one_line(text.substr(0, most + kLongestCharacter));
  const bool cut = line.size() > most || text.size() > most + kLongestCharacter;
  return std::string{base::cut_utf8(line, most)} + (cut ? "…" : "");
}

std::string_view name_of(Kind kind) {
  switch (kind) {
    case Kind::final_failure: return "final_failure";
    case Kind::quarantine: return "quarantine";
    case Kind::backlog_age: return "backlog_age";
    case Kind::circuit_open: return "circuit_open";
    case Kind::failure_rate: return "failure_rate";
  }
  return "";
}

std::string headline(const Message& message) {
  if (message.test) return "[EasyRetry] this is a test: messages arrive here";
  return "[EasyRetry] " + one_line(message.handler, kLongestName) + ": " + (message.resolved ? "resolved: " : "") +
         description(message);
}

std::vector<std::string> details(const Message& message) {
  if (message.test) return {"Nothing has happened."};
  std::vector<std::string> lines{"namespace " + one_line(message.name_space, kLongestName) + ", rule " +
                                 one_line(message.rule, kLongestName)};
  for (const auto& [id, key, error] : message.samples) {
    lines.emplace_back("- ").append(id).append(" (key ").append(key).append("): ").append(error);
  }
  const bool counts_tasks = message.kind == Kind::final_failure || message.kind == Kind::quarantine;
  if (counts_tasks && !message.samples.empty() && message.count > message.samples.size()) {
    lines.push_back("… and " + std::to_string(message.count - message.samples.size()) + " more");
  }
  return lines;
}

std::string full_text(const Message& message) {
  std::string text = headline(message);
  for (const std::string& line : details(message)) text += "\n" + line;
  return text;
}

}  // namespace easyretry::alert
