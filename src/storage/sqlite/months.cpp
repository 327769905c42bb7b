#include "storage/sqlite/months.h"

#include "storage/history.h"
#include "storage/period.h"

namespace easyretry::storage::sqlite {
namespace {

constexpr std::string_view kPrefix = "retry_state_";

Period period_of(Month month) {
  return {PeriodLength::month, static_cast<int>(month)};
}

}  // namespace

Month month_of(TimePoint time) {
  return Month{period_at(PeriodLength::month, time).index};
}

TimePoint begin_of(Month month) {
  return storage::begin_of(period_of(month));
}

bool overlaps(Month month, const TimeRange& range) {
  return storage::overlaps(period_of(month), range);
}

std::string history_table(Month month) {
  return std::string{kPrefix} + to_string(period_of(month));
}

std::string history_view(const std::string& table) {
  return "retry_task_history_" + table.substr(kPrefix.size());
}

std::optional<Month> month_of_table(std::string_view table) {
  if (!table.starts_with(kPrefix)) return std::nullopt;
  const auto month = parse_period(PeriodLength::month, table.substr(kPrefix.size()));
  if (!month) return std::nullopt;
  return Month{month->index};
}

}  // namespace easyretry::storage::sqlite
