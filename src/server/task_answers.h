#pragma once
// Tasks and events as the API shows them: the schemas Task, Tasks and Event of openapi/openapi.yaml.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <easyretry/event.h>

#include "server/answer_values.h"
#include "task/record.h"

namespace easyretry::server {

struct InNamespace {
  std::string_view name_space;
};
// Without EASYRETRY_JSON: a field cannot be called `namespace`, or `class`.
constexpr auto easyretry_json_fields(JsonTag<InNamespace>) {
  return std::make_tuple(json_field("namespace", &InNamespace::name_space));
}

// Left out of a normal task.
struct InClass {
  std::optional<std::string_view> task_class;
};
constexpr auto easyretry_json_fields(JsonTag<InClass>) {
  return std::make_tuple(json_field("class", &InClass::task_class));
}

struct TaskSummary {
  ShownId id;
  std::string_view key;
  std::string_view handler;
  std::optional<ShownText> business_type;
  std::optional<ShownText> business_id;
  std::optional<ShownText> traceparent;
  std::vector<std::string_view> tags;
  int attempts = 0;
  std::int64_t version = 0;
  std::optional<std::string_view> outcome;
  std::optional<ShownTime> next_at;
};
EASYRETRY_JSON(TaskSummary, id, key, handler, business_type, business_id, traceparent, tags, attempts, version, outcome,
               next_at)

struct PolicyAnswer {
  int max_attempts = 0;
  Millis max_duration_ms{};
  std::optional<ShownTime> deadline;
  std::optional<ShownText> backoff;
};
EASYRETRY_JSON(PolicyAnswer, max_attempts, max_duration_ms, deadline, backoff)

// Why a task is not running, or where it runs. A page translates `kind`; `text` is for people who read JSON.
struct WaitsFor {
  std::string_view kind;
  std::string text;
  std::optional<ShownTime> since{};
  std::optional<ShownTime> until{};
  std::optional<std::string> by{};   // running: the instance
  std::optional<std::string> why{};  // paused: the reason that was given
};
EASYRETRY_JSON(WaitsFor, kind, text, since, until, by, why)

struct AttemptAnswer {
  int number = 0;
  std::string_view end;
  std::optional<ShownText> by{};
  std::optional<ShownTime> began_at{};
  ShownTime ended_at;
  std::optional<Millis> took_ms{};
  std::optional<ShownText> error{};
};
EASYRETRY_JSON(AttemptAnswer, number, end, by, began_at, ended_at, took_ms, error)

struct TaskDetails {
  std::string_view state;
  std::string_view stage;
  int crashes = 0;
  int deliveries = 0;
  int generation = 0;
  ShownTime created_at;
  std::optional<ShownTime> finished_at;
  std::optional<ShownId> requeued_as;
  std::optional<ShownTime> first_failed_at;
  std::optional<ShownTime> last_failed_at;
  std::optional<ShownText> last_error;
  std::optional<std::vector<AttemptAnswer>> last_attempts;
  std::optional<ShownText> progress;
  PolicyAnswer policy;
  // Only of a running task
  std::optional<ShownText> locked_by{};
  std::optional<ShownTime> lease_until{};
  std::optional<bool> args_removed{};  // true, or left out
  // The record lacks these; the caller sets them.
  std::optional<bool> no_handler{};     // true, or left out
  std::optional<ShownJson> args{};      // only with the right to see them
  std::optional<ShownId> requeue_of{};  // the finished task from which it was requeued
  std::optional<WaitsFor> waits_for{};
  // For a worker that judges the attempt and calls callbacks itself
  std::optional<int> payload_version{};
  std::optional<int> callback_attempts{};
  std::optional<ShownJson> result{};              // also of a finished task, if it is kept
  std::optional<std::int64_t> result_left_out{};  // the bytes of a result that was too long to be kept
};
EASYRETRY_JSON(TaskDetails, state, stage, crashes, deliveries, generation, created_at, finished_at, requeued_as,
               first_failed_at, last_failed_at, last_error, last_attempts, progress, policy, locked_by, lease_until,
               args_removed, no_handler, args, requeue_of, waits_for, payload_version, callback_attempts, result,
               result_left_out)

using TaskAnswer = Joined<InNamespace, InClass, TaskSummary, TaskDetails>;

// The answer refers to the record.
TaskAnswer shown(const task::TaskRecord& record);

struct TaskPage {
  std::vector<TaskAnswer> tasks{};
  std::optional<std::string> next{};      // the text of a ListCursor
  std::optional<std::int64_t> scanned{};  // how many tasks were read, if there is no index for the conditions
};
EASYRETRY_JSON(TaskPage, tasks, next, scanned)

using EventTask = Joined<InNamespace, InClass, TaskSummary>;

struct EventAnswer {
  std::string kind;
  ShownTime at;
  std::optional<ShownText> message;
  std::optional<ShownText> table;
  std::optional<EventTask> task{};
};
EASYRETRY_JSON(EventAnswer, kind, at, message, table, task)

// The answer refers to the event.
EventAnswer shown(const Event& event);
std::string name_of(EventKind kind);  // "attempt_failed"

}  // namespace easyretry::server
