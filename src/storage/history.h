#pragma once
// Ended tasks: which of them a store keeps, and in which table.

#include <optional>
#include <string>
#include <string_view>

#include <easyretry/task_query.h>

#include "storage/period.h"

namespace easyretry::storage {

enum class History {
  none,      // only what nobody decided to end: see keeps()
  failures,  // every outcome but succeeded
  all,
};

std::string_view to_string(History history);
std::optional<History> parse_history(std::string_view text);  // the names above; nullopt for anything else

// Whether a task that ended so is remembered. Quarantined and parked tasks are kept even under `none`: they were never
// done and nobody was told, so history is the only place where they can be found and requeued.
bool keeps(History history, Outcome outcome);

// Ended tasks are stored by the month in which they ended, UTC, whatever the layout: retry_task_history_202603.
std::string history_table(TimePoint finished);
std::optional<Period> month_of_history_table(std::string_view table);  // nullopt: not a history table

// Whether something that ended in this period may have ended in the range.
bool overlaps(Period period, const TimeRange& range);

}  // namespace easyretry::storage
