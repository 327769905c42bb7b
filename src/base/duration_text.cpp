#include "base/duration_text.h"

#include <charconv>
#include <limits>
#include <stdexcept>

namespace easyretry::base {
namespace {

struct Unit {
  std::string_view name;
  std::int64_t millis;
};
constexpr Unit kUnits[] = {{"d", 86'400'000}, {"h", 3'600'000}, {"m", 60'000}, {"s", 1000}, {"ms", 1}};

[[noreturn]] void refuse_duration(std::string_view text, const char* why) {
  throw std::invalid_argument("duration \"" + std::string{text} + "\": " + why +
                              "; write a whole number and one of ms, s, m (or min), h, d, such as 250ms or 15m");
}

std::int64_t millis_of(std::string_view name, std::string_view text) {
  if (name == "min") name = "m";
  for (const Unit& unit : kUnits) {
    if (unit.name == name) return unit.millis;
  }
  refuse_duration(text, name.empty() ? "no unit" : "unknown unit");
}

}  // namespace

std::string to_text(Millis duration) {
  if (duration == Millis::zero()) return "0s";
  for (const Unit& unit : kUnits) {
    if (duration.count() % unit.millis == 0) {
      return std::to_string(duration.count() / unit.millis) + std::string{unit.name};
    }
  }
  return {};  // every number of milliseconds is divisible by one
}

std::string age_text(Millis age) {
  const auto seconds = age.count() / 1000;
  if (seconds < 120) return std::to_string(seconds) + " s";
  if (seconds < 7200) return std::to_string(seconds / 60) + " min";
  if (seconds < 172'800) return std::to_string(seconds / 3600) + " h";
  return std::to_string(seconds / 86'400) + " days";
}

Millis parse_duration(std::string_view text) {
  if (text.starts_with('-')) refuse_duration(text, "it is negative");
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc::result_out_of_range) refuse_duration(text, "it is too large");
  if (error != std::errc{}) refuse_duration(text, "not a number");
  const std::int64_t millis = millis_of(text.substr(static_cast<std::size_t>(end - text.data())), text);
  if (number > std::numeric_limits<std::int64_t>::max() / millis) refuse_duration(text, "it is too large");
  return Millis{number * millis};
}

}  // namespace easyretry::base
