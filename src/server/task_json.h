#pragma once
// A task, and what happens to it, as the API shows it.

#include <optional>
#include <string>
#include <string_view>

#include <easyretry/event.h>
#include <easyretry/json_text.h>

#include "task/record.h"

namespace easyretry::server {

// `arguments`, JSON, for those who may see them.
void write_task(JsonWriter& out, const task::TaskRecord& record, const std::optional<std::string>& arguments = {});

void write_event(JsonWriter& out, const Event& event);

// Names of states, outcomes and events as people write them, in small letters.
std::string name_of(EventKind kind);
std::string name_of(TaskState state);
std::string name_of(Stage stage);
std::string name_of(Outcome outcome);

// Throws Refusal (404) for what is no id: there is no such task.
TaskId parse_id(const std::string& text);

// The text is JSON; it becomes a part of what is written.
void write_json(JsonWriter& out, const std::string& json);

}  // namespace easyretry::server
