#include "storage/history_table.h"

namespace easyretry::storage {
namespace {

constexpr std::string_view kPrefix = "retry_task_history_";

}  // namespace

std::string history_table(TimePoint finished) {
  return std::string{kPrefix} + to_string(period_at(PeriodLength::month, finished));
}

std::optional<Period> month_of_history_table(std::string_view table) {
  if (!table.starts_with(kPrefix)) return std::nullopt;
  return parse_period(PeriodLength::month, table.substr(kPrefix.size()));
}

bool overlaps(Period period, const TimeRange& range) {
  return (!range.from || end_of(period) > *range.from) && (!range.until || begin_of(period) < *range.until);
}

}  // namespace easyretry::storage
