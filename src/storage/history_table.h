#pragma once
// What is finished goes by the month of its finish, UTC, whatever the layout: retry_task_history_202603.

#include <optional>
#include <string>
#include <string_view>

#include <easyretry/task_query.h>

#include "storage/period.h"

namespace easyretry::storage {

std::string history_table(TimePoint finished);
std::optional<Period> month_of_history_table(std::string_view table);  // nullopt: not a history table

// Whether something that ended in this period may have ended in the range.
bool overlaps(Period period, const TimeRange& range);

}  // namespace easyretry::storage
