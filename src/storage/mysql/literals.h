#pragma once
// Values as they stand in a statement. Text protocol on purpose: a statement of 500 rows is parsed once and needs no
// prepare, which is the fastest form that MariaDB 10.11 and MySQL 8 both have.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "storage/record_columns.h"

namespace easyretry::storage::mysql {

// Safe because of what a session fixes: in utf8mb4 no quote or backslash is part of a longer character, and sql_mode
// lacks NO_BACKSLASH_ESCAPES and ANSI_QUOTES.
std::string escaped(std::string_view bytes);

std::string bytes(std::string_view value);          // any bytes, kept and compared as they are
std::string bytes_or_null(std::string_view value);  // empty is NULL
std::string characters(std::string_view value);     // what is no UTF-8 becomes U+FFFD
std::string maybe_time(const std::optional<TimePoint>& time);
std::string id_list(std::span<const TaskId> ids);  // (1,2,3)

inline std::string literal(std::int64_t value) {
  return std::to_string(value);
}
inline std::string literal(TimePoint time) {
  return std::to_string(to_ms(time));
}
inline std::string literal(TaskId id) {
  return std::to_string(number(id));
}

// The server's, in milliseconds since 1970, is the same everywhere in one statement. Not UNIX_TIMESTAMP, which ends in
// 2038 before MariaDB 11.5.
inline constexpr const char* kServerTime = "(TIMESTAMPDIFF(MICROSECOND,'1970-01-01',UTC_TIMESTAMP(3)) DIV 1000)";
std::string time_or_servers(std::optional<TimePoint> time);
// As base::later, and where it is more than any clock will ever show, the end of time.
std::string later(const std::string& time, Millis delay);

}  // namespace easyretry::storage::mysql
