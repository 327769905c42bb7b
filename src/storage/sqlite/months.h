#pragma once
// History goes by the month of the finish, UTC: retry_state_202603, with what was asked for as
// retry_task_history_202603.

#include <optional>
#include <string>
#include <string_view>

#include <easyretry/task_query.h>
#include <easyretry/time.h>

namespace easyretry::storage::sqlite {

// Months since the year 0, so that months can be counted and subtracted.
enum class Month : int {};

Month month_of(TimePoint time);
TimePoint begin_of(Month month);
std::string history_table(Month month);
std::string history_view(const std::string& table);
// Whether something that ended in this month may have ended in the range.
bool overlaps(Month month, const TimeRange& range);
std::optional<Month> month_of_table(std::string_view table);  // nullopt: not a history table

}  // namespace easyretry::storage::sqlite
