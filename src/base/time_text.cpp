#include "base/time_text.h"

#include <array>
#include <charconv>
#include <cstdio>
#include <optional>
#include <stdexcept>

namespace easyretry::base {
namespace {

[[noreturn]] void refuse_time(std::string_view text, const char* why) {
  throw std::invalid_argument("time \"" + std::string{text} + "\": " + why +
                              "; write it in UTC, such as 2026-03-01T12:00:00Z, or a date, such as 2026-03-01");
}

// Reads a text from the left, part by part. Once a part is missing, all further parts count as missing.
class Parts {
 public:
  explicit Parts(std::string_view text) : rest_(text) {}

  int number(std::size_t digits) {
    const std::string_view part = rest_.substr(0, digits);
    const bool all_digits = part.find_first_not_of("0123456789") == std::string_view::npos;
    int value = 0;
    if (part.size() == digits && all_digits) std::from_chars(part.data(), part.data() + digits, value);
    take(part.size() == digits && all_digits, digits);
    return value;
  }
  void sign(char wanted) { take(rest_.starts_with(wanted), 1); }
  bool next_is(char wanted) const { return rest_.starts_with(wanted); }
  bool complete() const { return good_ && rest_.empty(); }

 private:
  void take(bool there, std::size_t size) {
    good_ = good_ && there;
    rest_ = good_ ? rest_.substr(size) : std::string_view{};
  }
  std::string_view rest_;
  bool good_ = true;
};

std::chrono::year_month_day take_date(Parts& parts) {
  const std::chrono::year year{parts.number(4)};
  parts.sign('-');
  const std::chrono::month month{static_cast<unsigned>(parts.number(2))};
  parts.sign('-');
  return {year, month, std::chrono::day{static_cast<unsigned>(parts.number(2))}};
}

// nullopt if a part is out of range. Leap seconds are out of range, too.
std::optional<Millis> take_clock(Parts& parts) {
  parts.sign('T');
  const std::chrono::hours hours{parts.number(2)};
  parts.sign(':');
  const std::chrono::minutes minutes{parts.number(2)};
  parts.sign(':');
  const std::chrono::seconds seconds{parts.number(2)};
  Millis millis{0};
  if (parts.next_is('.')) {
    parts.sign('.');
    millis = Millis{parts.number(3)};
  }
  parts.sign('Z');
  if (hours.count() > 23 || minutes.count() > 59 || seconds.count() > 59) return std::nullopt;
  return hours + minutes + seconds + millis;
}

}  // namespace

std::string to_text(TimePoint time) {
  const auto day = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date{day};
  const std::chrono::hh_mm_ss clock{time - day};
  std::array<char, 64> text;
  std::snprintf(text.data(), text.size(), "%04d-%02u-%02uT%02d:%02d:%02d.%03dZ", static_cast<int>(date.year()),
                static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                static_cast<int>(clock.hours().count()), static_cast<int>(clock.minutes().count()),
                static_cast<int>(clock.seconds().count()), static_cast<int>(clock.subseconds().count()));
  return text.data();
}

TimePoint parse_time(std::string_view text) {
  Parts parts{text};
  const auto date = take_date(parts);
  const auto clock = parts.complete() ? Millis{0} : take_clock(parts);
  if (!parts.complete()) refuse_time(text, "not a time");
  if (!date.ok() || !clock) refuse_time(text, "there is no such day or time of day");
  if (date.year() < std::chrono::year{1970}) refuse_time(text, "it is before 1970");
  return std::chrono::sys_days{date} + *clock;
}

}  // namespace easyretry::base
