#pragma once
// What plain SQL put into retry_inbox, on its way to becoming tasks: docs/plain-sql.md.

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <easyretry/error.h>

#include "task/record.h"

namespace easyretry::storage {

struct InboxRow {
  std::int64_t id = 0;
  std::string handler;
  std::string payload;
  std::string key;
  std::string business_type;
  std::string business_id;
  std::string traceparent;
  std::optional<TimePoint> due_at;  // nothing: now
};

struct IntakeQuery {
  std::string_view space;
  std::span<const std::string> handlers;  // rows of others are left to those who know them
  std::size_t limit = 1000;
};

// The task that a row becomes, or why it cannot become one.
using Convert = std::function<tl::expected<task::NewTask, std::string>(InboxRow row)>;

}  // namespace easyretry::storage
