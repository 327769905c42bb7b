#include "storage/sqlite/months.h"

#include <algorithm>
#include <charconv>

namespace easyretry::storage::sqlite {
namespace {

constexpr std::string_view kPrefix = "retry_state_";
constexpr int kMonths = 12;

}  // namespace

Month month_of(TimePoint time) {
  const std::chrono::year_month_day date{std::chrono::floor<std::chrono::days>(time)};
  // A clock outside these years is wrong; names keep their six digits all the same.
  const int year = std::clamp(static_cast<int>(date.year()), 1, 9999);
  return Month{year * kMonths + static_cast<int>(static_cast<unsigned>(date.month())) - 1};
}

TimePoint begin_of(Month month) {
  const int count = static_cast<int>(month);
  const std::chrono::year year{count / kMonths};
  return std::chrono::sys_days{year / std::chrono::month{static_cast<unsigned>(count % kMonths + 1)} / 1};
}

std::string history_table(Month month) {
  const int count = static_cast<int>(month);
  const int digits = count / kMonths * 100 + count % kMonths + 1;
  std::string number = std::to_string(digits);
  return std::string{kPrefix} + std::string(6 - std::min<std::size_t>(6, number.size()), '0') + number;
}

std::string history_view(const std::string& table) {
  return "retry_task_history_" + table.substr(kPrefix.size());
}

std::optional<Month> month_of_table(std::string_view table) {
  if (!table.starts_with(kPrefix) || table.size() != kPrefix.size() + 6) return std::nullopt;
  int digits = 0;
  const char* end = table.data() + table.size();
  const auto [stopped, error] = std::from_chars(table.data() + kPrefix.size(), end, digits);
  const int month = digits % 100;
  if (error != std::errc{} || stopped != end || month < 1 || month > kMonths) return std::nullopt;
  return Month{digits / 100 * kMonths + month - 1};
}

}  // namespace easyretry::storage::sqlite
