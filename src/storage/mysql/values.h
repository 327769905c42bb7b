#pragma once
// Values as they stand in a statement, how long they may be, and statements of many rows cut into several.
//
// EasyRetry uses the text protocol: a statement of 500 rows is parsed once and needs no prepare, which is the fastest
// form that both MariaDB 10.11 and MySQL 8 have.

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "storage/record_columns.h"

namespace easyretry::storage::mysql {

// --- Literals ---

// Safe because of what a session sets: in utf8mb4 no quote or backslash is part of a longer character, and sql_mode
// lacks NO_BACKSLASH_ESCAPES and ANSI_QUOTES.
std::string escaped(std::string_view bytes);

std::string bytes(std::string_view value);          // any bytes, kept and compared as they are
std::string bytes_or_null(std::string_view value);  // empty is NULL
std::string characters(std::string_view value);     // invalid UTF-8 becomes U+FFFD
std::string maybe_time(const std::optional<TimePoint>& time);
std::string in_quotes(std::string_view text);  // not escaped
std::string name_or_null(const std::optional<Outcome>& outcome);
std::string error_or_null(std::string_view error);  // cut to kErrorBytes

inline std::string literal(std::int64_t value) {
  return std::to_string(value);
}
inline std::string literal(TimePoint time) {
  return std::to_string(to_ms(time));
}
inline std::string literal(TaskId id) {
  return std::to_string(number(id));
}

// 1,2,3
template <class Values, class ToText>
std::string list_of(const Values& values, ToText to_text) {
  std::string list;
  for (const auto& value : values) list.append(list.empty() ? "" : ",").append(to_text(value));
  return list;
}
std::string id_list(std::span<const TaskId> ids);
std::string ticket_list(std::span<const task::Ticket> tickets);  // (1,7),(2,3)
// Names as retry_inbox has them; NULL if there are none, because an empty list is a syntax error.
std::string handler_list(std::span<const std::string> handlers);

// The server's time in milliseconds since 1970, the same everywhere in one statement. Not UNIX_TIMESTAMP, which ends in
// 2038 before MariaDB 11.5.
inline constexpr const char* kServerTime = "(TIMESTAMPDIFF(MICROSECOND,'1970-01-01',UTC_TIMESTAMP(3)) DIV 1000)";
std::string time_or_servers(std::optional<TimePoint> time);
// As base::later. A delay whose end no clock will ever show gives the end of time.
std::string later(const std::string& time, Millis delay);

// --- Rows ---

struct ByteLimit {
  std::string_view column;
  std::size_t bytes;
};

// As in sql/tables.sql.
inline constexpr ByteLimit kNamespaceLimit{"namespace", 128};
inline constexpr ByteLimit kKeyLimit{"task_key", 512};
inline constexpr ByteLimit kHandlerLimit{"method_name", 512};
inline constexpr ByteLimit kBusinessTypeLimit{"business_type", 255};
inline constexpr ByteLimit kBusinessIdLimit{"business_id", 512};
inline constexpr ByteLimit kTraceparentLimit{"traceparent", 512};
inline constexpr ByteLimit kBackoffLimit{"backoff_strategy", 2048};
inline constexpr ByteLimit kOwnerLimit{"locked_by", 512};
inline constexpr ByteLimit kProgressLimit{"progress", (1 << 24) - 1};
inline constexpr ByteLimit kTagsLimit{"tags", (1 << 24) - 1};

// A longer message is cut: it is only for readers, and must not keep a task from being settled.
inline constexpr std::size_t kErrorBytes = std::size_t{1} << 20;

// Throw bad_data that names column, length and limit.
void check_length(std::string_view value, const ByteLimit& limit);
void check_lengths(const task::TaskRecord& record);

// The values of insert_tasks, insert_history and take_keys (sql/insert.sql), in parentheses.
std::string live_values(const task::TaskRecord& record);
std::string history_values(const task::TaskRecord& record);
std::string key_values(const task::TaskRecord& record);

// --- Statements of many rows ---

// More rows do not make a statement cheaper per row.
inline constexpr std::size_t kMostRows = 500;
// A round trip of 4 MiB costs no more per byte than a longer one, and less memory.
inline constexpr std::size_t kMostBytes = std::size_t{4} << 20;

struct Piece {
  std::size_t first;
  std::size_t count;
  std::string statement;
};

// Throws bad_data if the row of one task has more bytes than the server accepts.
void check_row(std::size_t bytes, std::size_t most_bytes);

// The statement has this name where its rows belong; it is the value for {rows}.
inline constexpr std::string_view kRows = "{rows}";
// Throws bad_data if one row alone is too much for the server's `most_bytes`.
std::vector<Piece> cut_rows(std::string_view statement, std::span<const std::string> rows, std::size_t most_bytes);

// Calls use(span) with at most kMostRows at a time.
template <class T, class Use>
void by_pieces(std::span<const T> all, Use use) {
  for (std::size_t first = 0; first < all.size(); first += kMostRows) {
    use(all.subspan(first, std::min(kMostRows, all.size() - first)));
  }
}

}  // namespace easyretry::storage::mysql
