#include "server/task_json.h"

#include <algorithm>
#include <charconv>

#include "base/json_copy.h"
#include "base/time_text.h"
#include "base/utf8.h"
#include "server/refusal.h"

namespace easyretry::server {
namespace {

void text(JsonWriter& out, std::string_view name, std::string_view value) {
  out.key(name);
  out.string(value);
}
void text_if_any(JsonWriter& out, std::string_view name, std::string_view value) {
  if (!value.empty()) text(out, name, value);
}
// For values that may be corrupted or manually edited: a row with invalid UTF-8 must not hide the others.
void readable_if_any(JsonWriter& out, std::string_view name, const std::string& value) {
  text_if_any(out, name, base::invalid_utf8(value) == std::string::npos ? value : "(not UTF-8)");
}
void number(JsonWriter& out, std::string_view name, std::int64_t value) {
  out.key(name);
  out.integer(value);
}
void time(JsonWriter& out, std::string_view name, const std::optional<TimePoint>& value) {
  if (value) text(out, name, base::to_text(*value));
}

void write_rules(JsonWriter& out, const task::RetryRules& rules) {
  out.key("policy");
  out.begin_object();
  number(out, "max_attempts", rules.max_attempts);
  number(out, "max_duration_ms", rules.max_duration.count());
  time(out, "deadline", rules.deadline);
  readable_if_any(out, "backoff", rules.backoff);
  out.end_object();
}

void write_identity(JsonWriter& out, const TaskInfo& info) {
  text(out, "id", to_string(info.id));
  text(out, "namespace", info.space);
  text(out, "key", info.key);
  text(out, "handler", info.handler);
  readable_if_any(out, "business_type", info.business_type);
  readable_if_any(out, "business_id", info.business_id);
  readable_if_any(out, "traceparent", info.traceparent);
  out.key("tags");
  out.begin_array();
  for (const std::string& tag : info.tags) out.string(tag);
  out.end_array();
}

void write_life(JsonWriter& out, const TaskInfo& info) {
  text(out, "state", name_of(info.state));
  text(out, "stage", name_of(info.stage));
  if (info.outcome) text(out, "outcome", name_of(*info.outcome));
  number(out, "attempts", info.attempts);
  number(out, "crashes", info.crashes);
  number(out, "deliveries", info.deliveries);
  number(out, "generation", info.generation);
  number(out, "version", info.version);
  time(out, "created_at", info.created_at);
  if (info.state != TaskState::finished) time(out, "next_at", info.next_at);
  time(out, "finished_at", info.finished_at);
  if (info.requeued_as) text(out, "requeued_as", to_string(*info.requeued_as));
  time(out, "first_failed_at", info.first_failed_at);
  time(out, "last_failed_at", info.last_failed_at);
  readable_if_any(out, "last_error", info.last_error);
  readable_if_any(out, "progress", info.progress);
}

void write_members(JsonWriter& out, const task::TaskRecord& record, const std::optional<std::string>& arguments) {
  write_identity(out, record.info);
  write_life(out, record.info);
  write_rules(out, record.rules);
  if (record.info.state == TaskState::running) {
    readable_if_any(out, "locked_by", record.locked_by);
    time(out, "lease_until", record.lease_until);
  }
  if (record.info.no_handler) {
    out.key("no_handler");
    out.boolean(true);
  }
  if (arguments) {
    out.key("args");
    write_json(out, *arguments);
  }
}

}  // namespace

void write_task(JsonWriter& out, const task::TaskRecord& record, const TaskDetails& details) {
  out.begin_object();
  write_members(out, record, details.arguments);
  if (details.requeue_of) text(out, "requeue_of", to_string(*details.requeue_of));
  out.end_object();
}

void write_unjudged_task(JsonWriter& out, const task::TaskRecord& record, const std::string& arguments) {
  out.begin_object();
  write_members(out, record, arguments);
  number(out, "payload_version", record.payload_version);
  number(out, "callback_attempts", record.callback_attempts);
  if (!record.result.empty()) {
    out.key("result");
    write_json(out, record.result);
  }
  out.end_object();
}

std::string name_of(EventKind kind) {
  std::string name{to_string(kind)};
  std::replace(name.begin(), name.end(), ' ', '_');
  return name;
}

void write_event(JsonWriter& out, const Event& event) {
  out.begin_object();
  text(out, "kind", name_of(event.kind));
  time(out, "at", event.at);
  readable_if_any(out, "message", event.message);
  text_if_any(out, "table", event.table);
  if (event.task.id != TaskId{}) {
    out.key("task");
    out.begin_object();
    write_identity(out, event.task);
    number(out, "attempts", event.task.attempts);
    number(out, "version", event.task.version);
    if (event.task.outcome) text(out, "outcome", name_of(*event.task.outcome));
    if (event.kind == EventKind::retry_scheduled) time(out, "next_at", event.task.next_at);
    out.end_object();
  }
  out.end_object();
}

TaskId parse_id(const std::string& text) {
  std::int64_t id = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), id);
  if (error != std::errc{} || end != text.data() + text.size() || id < 0) {
    throw Refusal{
        {404, "not_found", "there is no task \"" + text + "\"", "an id is a whole number, as returned by submit"}};
  }
  return static_cast<TaskId>(id);
}

void write_json(JsonWriter& out, const std::string& json) {
  const JsonDocument document = JsonDocument::parse(json);
  base::copy_json(document.root(), out);
}

}  // namespace easyretry::server
