#pragma once
// Which ended tasks a store keeps, and in which table.

#include <optional>
#include <string>
#include <string_view>

#include <easyretry/task.h>

#include "storage/period.h"
#include "task/record.h"

namespace easyretry::storage {

enum class History {
  none,      // only quarantined and parked tasks: see keeps()
  failures,  // every outcome but succeeded
  all,
};

std::string_view to_string(History history);
std::optional<History> parse_history(std::string_view text);  // the names above; nullopt for anything else

// Quarantined and parked tasks were never completed, and their owner was not notified. Only in history can they be
// found and requeued, so they are kept as long as the store keeps history at all.
bool must_be_kept(Outcome outcome);
bool keeps(History history, Outcome outcome);
bool keeps(History history, const task::Settlement& settlement);

// There is one table for each month in which tasks ended, UTC, whatever the layout: retry_task_history_202603.
std::string history_table(TimePoint finished);
std::optional<Period> month_of_history_table(std::string_view table);  // nullopt: not a history table

// Whether a task that ended in this period may have ended in the range.
bool overlaps(Period period, const TimeRange& range);

}  // namespace easyretry::storage
