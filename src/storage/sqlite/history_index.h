#pragma once
// What makes pages of a long history quick, as SQL. An id tells when its task was stored, and most tasks end soon
// after: so a range of times is a range of ids, and only tasks of which that is not true need an index over times.

#include <string>

#include <easyretry/time.h>

namespace easyretry::storage::sqlite {

// Times are told apart by slices: so many rows a page may have to pass over before its first one. A search over a month
// looks at 4,464 of them.
inline constexpr Millis kSlice{600'000};

// Of a task that ended neither in the slice of its id nor in the next one: `finished_slice` finds it.
std::string ended_late();
// Of a task whose id is not of the slice in which it was stored, or the next one. Ids grow also when the clock is set
// back.
std::string stored_out_of_order();
std::string finished_slice();

std::string kinds_index(const std::string& month);  // (namespace, handler, outcome), and within these by id
std::string late_index(const std::string& month);   // slices in which tasks ended late, and within these by id
inline const std::string kOutOfOrderIndex = "retry_call_out_of_order";

// Over a table of history, and over all calls.
std::string create_history_indexes(const std::string& month);
std::string create_call_index();

}  // namespace easyretry::storage::sqlite
