#include "storage/history.h"

#include <algorithm>
#include <array>

namespace easyretry::storage {
namespace {

constexpr std::string_view kHistoryPrefix = "retry_task_history_";

}  // namespace

std::string_view to_string(History history) {
  switch (history) {
    case History::none: return "none";
    case History::failures: return "failures";
    case History::all: return "all";
  }
  return "unknown";
}

std::optional<History> parse_history(std::string_view text) {
  constexpr std::array kAll{History::none, History::failures, History::all};
  const auto* found =
      std::find_if(kAll.begin(), kAll.end(), [&](History history) { return to_string(history) == text; });
  if (found == kAll.end()) return std::nullopt;
  return *found;
}

bool must_be_kept(Outcome outcome) {
  return outcome == Outcome::quarantined || outcome == Outcome::parked;
}

bool keeps(History history, Outcome outcome) {
  if (must_be_kept(outcome)) return true;
  switch (history) {
    case History::none: return false;
    case History::failures: return outcome != Outcome::succeeded;
    case History::all: return true;
  }
  return true;
}

bool keeps(History history, const task::Settlement& settlement) {
  return keeps(settlement.keep ? history : History::none, settlement.outcome);
}

std::string history_table(TimePoint finished) {
  return std::string{kHistoryPrefix} + to_string(period_at(PeriodLength::month, finished));
}

std::optional<Period> month_of_history_table(std::string_view table) {
  if (!table.starts_with(kHistoryPrefix)) return std::nullopt;
  return parse_period(PeriodLength::month, table.substr(kHistoryPrefix.size()));
}

bool overlaps(Period period, const TimeRange& range) {
  return (!range.from || end_of(period) > *range.from) && (!range.until || begin_of(period) < *range.until);
}

}  // namespace easyretry::storage
