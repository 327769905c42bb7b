#pragma once
// Tasks and events as JSON, as the API shows them.

#include <optional>
#include <string>
#include <string_view>

#include <easyretry/event.h>
#include <easyretry/json_text.h>

#include "task/record.h"

namespace easyretry::server {

using task::name_of;

// Details that are not in the record.
struct TaskDetails {
  std::optional<std::string> arguments{};  // JSON; only with the right to see them
  std::optional<TaskId> requeue_of{};      // the finished task from which it was requeued
};
void write_task(JsonWriter& out, const task::TaskRecord& record, const TaskDetails& details = {});
// Adds what a worker needs to judge the attempt and to call a callback. The result is JSON or empty.
void write_unjudged_task(JsonWriter& out, const task::TaskRecord& record, const std::string& arguments);

void write_event(JsonWriter& out, const Event& event);
std::string name_of(EventKind kind);  // "attempt_failed"

// Throws Refusal (404) for an invalid id.
TaskId parse_id(const std::string& text);

// Inserts a JSON text.
void write_json(JsonWriter& out, const std::string& json);

}  // namespace easyretry::server
