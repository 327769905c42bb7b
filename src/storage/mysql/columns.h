#pragma once
// A record as the values of an INSERT, and how long they may be.

#include <span>
#include <string>
#include <string_view>

#include "storage/record_columns.h"

namespace easyretry::storage::mysql {

struct ByteLimit {
  std::string_view column;
  std::size_t bytes;
};

// As in schema.cpp.
inline constexpr ByteLimit kSpaceLimit{"namespace", 128};
inline constexpr ByteLimit kKeyLimit{"task_key", 512};
inline constexpr ByteLimit kHandlerLimit{"method_name", 512};
inline constexpr ByteLimit kBusinessTypeLimit{"business_type", 255};
inline constexpr ByteLimit kBusinessIdLimit{"business_id", 512};
inline constexpr ByteLimit kTraceparentLimit{"traceparent", 512};
inline constexpr ByteLimit kBackoffLimit{"backoff_strategy", 2048};
inline constexpr ByteLimit kOwnerLimit{"locked_by", 512};
inline constexpr ByteLimit kProgressLimit{"progress", (1 << 24) - 1};
inline constexpr ByteLimit kTagsLimit{"tags", (1 << 24) - 1};

// A longer message is cut: it is there to be read, and must not keep a task from being settled.
inline constexpr std::size_t kErrorBytes = std::size_t{1} << 20;

// Throw bad_data that names column, length and limit.
void check_length(std::string_view value, const ByteLimit& limit);
void check_lengths(const task::TaskRecord& record);

// What an INSERT names, and the values of a row in that order.
std::string live_insert_columns();
std::string history_insert_columns();
std::string live_values(const task::TaskRecord& record);
std::string history_values(const task::TaskRecord& record);

// What a live row has and history keeps as it is: the first of history_insert_columns().
std::string_view carried_columns();

std::string name_or_null(const std::optional<Outcome>& outcome);
std::string error_or_null(std::string_view error);

}  // namespace easyretry::storage::mysql
