#pragma once
// TaskInfo::last_attempts as stores keep it: a text with one line per attempt, newest first.
//
//   3 ⇥ began ⇥ ended ⇥ failed ⇥ pay-7f9c-4711 ⇥ the bank is busy
//
// Fields are separated by tabs; times are milliseconds since 1970, and an unknown one is empty. A store puts the line
// of a Settlement before the others, in the statement that settles the task. A claim that takes a task over from an
// instance that died writes the line of the lost attempt itself, in its own statement, so the text is made of columns
// that SQL can join. At most 4 KiB a task.

#include <string>
#include <string_view>
#include <vector>

#include "task/record.h"

namespace easyretry::task {

inline constexpr std::size_t kLastAttempts = 8;

// At most 500 bytes, UTF-8: long errors and names are cut.
std::string attempt_line(const PastAttempt& attempt);
// Puts a line before the others, and drops those beyond kLastAttempts. Nothing changes if it is empty.
std::string with_attempt(std::string_view log, std::string_view line);

// A line that is corrupted or was edited manually is left out.
std::vector<PastAttempt> parse_attempts(std::string_view log);
std::string attempts_text(const std::vector<PastAttempt>& attempts);

// Of a running task whose lease has expired: the attempt that its instance did not end. `began`: as in TaskRecord.
PastAttempt lost_attempt(const TaskRecord& record);

}  // namespace easyretry::task
