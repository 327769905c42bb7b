#pragma once
// A task, and what happens to it, as the API shows it.

#include <optional>
#include <string>
#include <string_view>

#include <easyretry/event.h>
#include <easyretry/json_text.h>

#include "task/record.h"

namespace easyretry::server {

using task::name_of;

// What a task's record does not say.
struct Besides {
  std::optional<std::string> arguments{};  // JSON, for those who may see them
  std::optional<TaskId> requeue_of{};      // the task of history that it was started again from
};
void write_task(JsonWriter& out, const task::TaskRecord& record, const Besides& besides = {});
// The same with what it takes to judge the attempt, and to call a callback again. The result is JSON, or empty.
void write_unjudged_task(JsonWriter& out, const task::TaskRecord& record, const std::string& arguments);

void write_event(JsonWriter& out, const Event& event);
std::string name_of(EventKind kind);  // "attempt_failed"

// Throws Refusal (404) for what is no id: there is no such task.
TaskId parse_id(const std::string& text);

// The text is JSON; it becomes a part of what is written.
void write_json(JsonWriter& out, const std::string& json);

}  // namespace easyretry::server
