#pragma once
// A TaskRecord as columns: one order for every statement that gives whole records.

#include <cstdint>
#include <string>
#include <vector>

#include "storage/sqlite/connection.h"
#include "task/record.h"

namespace easyretry::storage::sqlite {

// What read_record expects to be selected, in this order.
std::string live_columns();
std::string finished_columns();
// Goes behind the table of tasks. LEFT: a task whose call is gone, which only a hand can have done, still is a task, to
// be parked and seen.
inline constexpr const char* kWithCall = " LEFT JOIN retry_call USING (id)";

// A row that was edited into nonsense is read as far as it goes: an unknown state is `pending`, an unknown outcome
// none.
task::TaskRecord read_record(const Statement& row);

// Tags as they are stored; empty for none.
std::string tags_text(const std::vector<std::string>& tags);

inline std::int64_t number(TaskId id) {
  return static_cast<std::int64_t>(id);
}
inline std::int64_t to_ms(TimePoint time) {
  return time.time_since_epoch().count();
}
inline TimePoint from_ms(std::int64_t ms) {
  return TimePoint{Millis{ms}};
}

}  // namespace easyretry::storage::sqlite
