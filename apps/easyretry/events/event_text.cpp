#include "events/event_text.h"

#include <array>
#include <chrono>
#include <ctime>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/time_text.h"

namespace easyretry::app {
namespace {

constexpr std::size_t kKindWidth = 15;  // retry_scheduled

// By the clock on the wall; with its date where that is not today's.
std::string clock_text(TimePoint time) {
  const auto local = [](TimePoint when) {
    const std::time_t seconds = std::chrono::system_clock::to_time_t(when);
    std::tm broken{};
    ::localtime_r(&seconds, &broken);
    return broken;
  };
  const std::tm at = local(time);
  const std::tm now = local(std::chrono::floor<Millis>(std::chrono::system_clock::now()));
  const bool today = at.tm_yday == now.tm_yday && at.tm_year == now.tm_year;
  std::array<char, sizeof "2026-03-01 12:00:00"> text{};
  const std::size_t size = std::strftime(text.data(), text.size(), today ? "%H:%M:%S" : "%F %H:%M:%S", &at);
  return {text.data(), size};
}

Colour colour_of(const std::string& kind) {
  if (kind == "succeeded") return Colour::green;
  if (kind == "gave_up" || kind == "quarantined" || kind == "parked" || kind == "gap") return Colour::red;
  if (kind == "attempt_failed" || kind == "callback_failed" || kind == "lease_lost" || kind == "cancelled") {
    return Colour::yellow;
  }
  return Colour::none;
}

void add(std::string& line, const std::string& text) {
  if (!text.empty()) line.append("  ").append(printable(text));
}

void add_task(std::string& line, const nlohmann::json& task) {
  add(line, task.value("handler", ""));
  add(line, task.value("id", ""));
  add(line, task.value("key", ""));
  const auto attempts = task.value("attempts", 0);
  if (attempts > 0) add(line, fmt::format("attempt {}", attempts));
  add(line, task.value("outcome", ""));
  if (task.contains("next_at")) add(line, "next " + clock_text(base::parse_time(task["next_at"].get<std::string>())));
}

}  // namespace

std::string event_line(const nlohmann::json& event, const Terminal& terminal) {
  const std::string kind = printable(event.value("kind", ""));
  const std::string at = event.value("at", "");
  const TimePoint time =
      at.empty() ? std::chrono::floor<Millis>(std::chrono::system_clock::now()) : base::parse_time(at);
  std::string line = coloured(terminal, Colour::faint, clock_text(time)) + "  " +
                     coloured(terminal, colour_of(kind), fmt::format("{:<{}}", kind, kKindWidth));
  if (event.contains("task")) add_task(line, event["task"]);
  add(line, event.value("table", ""));
  add(line, event.value("message", ""));
  return line;
}

}  // namespace easyretry::app
