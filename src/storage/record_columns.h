#pragma once
// Rows of SQL as values. All statements that select whole records have the same order of columns, in every database.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <easyretry/task.h>

#include "task/attempt_log.h"
#include "task/record.h"

namespace easyretry::storage {

enum RecordColumn : int {
  kId,
  kNamespace,
  kKey,
  kHandler,
  kBusinessType,
  kBusinessId,
  kStage,
  kOutcome,
  kAttempts,
  kCrashes,
  kDeliveries,
  kGeneration,
  kVersion,
  kCreatedAt,
  kNextAt,
  kFirstFailedAt,
  kLastFailedAt,
  kLastError,
  kPayload,
  kPayloadVersion,
  kMaxAttempts,
  kMaxDuration,
  kDeadline,
  kBackoff,
  kResult,
  kCallbackAttempts,
  kTags,
  kTraceparent,
  kProgress,
  kStatus,
  kLockedBy,
  kLeaseUntil,
  kFinishedAt,
  kRequeuedAs,
  kTaskClass,
  kAttemptLog,  // statements for claims and lists leave it out
};

// The columns that read_record() expects, in this order.
std::string live_columns();
std::string finished_columns();

// The stored names, parsed; nullopt for any other text.
std::optional<TaskState> parse_state(std::string_view text);
std::optional<Stage> parse_stage(std::string_view text);
std::optional<Outcome> parse_outcome(std::string_view text);

// Tags in their stored form; "" if there are none. A corrupted or manually edited text is read as no tags: nothing
// depends on them.
std::string tags_text(const std::vector<std::string>& tags);
std::vector<std::string> parse_tags(std::string_view text);
std::string tag_text(const std::string& tag);  // one tag in the form that it has among the others

// The conditions of a query over live tasks or history, as calls of equal(column, text), in_range(column, range) and
// require(condition).
template <class Conditions>
void add_conditions(const TaskQuery& query, bool history, Conditions& to) {
  const auto equal = [&](std::string_view column, std::string_view text) {
    if (!text.empty()) to.equal(column, text);
  };
  equal("namespace", query.name_space);
  equal("task_key", query.key);
  equal("method_name", query.handler);
  equal("business_type", query.business_type);
  equal("business_id", query.business_id);
  if (query.outcome) equal("outcome", task::stored_name(*query.outcome));
  to.in_range("created_at", query.created_at);
  if (history) {
    to.in_range("finished_at", query.finished_at);
    // History has no column for the state: all its tasks have ended.
    if (query.state && *query.state != TaskState::finished) to.require("FALSE");
  } else {
    if (query.state) equal("status", task::stored_name(*query.state));
    if (query.finished_at.restricts()) to.require("FALSE");
  }
}

// The conditions of needs_walk() (task_walk.h) that SQL can express, also as calls of at_least(column, number) and
// contains(column, text).
template <class Conditions>
void add_searched_conditions(const TaskQuery& query, bool history, Conditions& to) {
  if (query.failed || !query.error.empty()) {
    to.require(history ? "outcome IN ('EXHAUSTED', 'REJECTED', 'QUARANTINED', 'PARKED')"
                       : "last_error_msg IS NOT NULL");
  }
  if (query.attempts_from > 0) to.at_least("attempt_count", query.attempts_from);
  if (!query.tag.empty()) to.contains("tags", tag_text(query.tag));
  if (query.task_class) {
    const bool normal = *query.task_class == TaskClass::normal;
    to.require(normal ? "task_class IS NULL"
                      : "task_class = " + std::to_string(task::stored_number(*query.task_class)));
  }
  if (history) {
    if (query.due_at.restricts() || !query.owner.empty()) to.require("FALSE");
    return;
  }
  to.in_range("next_retry_time", query.due_at);
  if (!query.owner.empty()) to.equal("locked_by", query.owner);
}

// NULL for normal: such a row needs no space for it.
inline std::optional<std::int64_t> class_or_null(TaskClass task_class) {
  return task_class == TaskClass::normal ? std::nullopt : std::optional{task::stored_number(task_class)};
}
inline std::int64_t number(TaskId id) {
  return static_cast<std::int64_t>(id);
}
inline std::int64_t to_ms(TimePoint time) {
  return time.time_since_epoch().count();
}
inline TimePoint from_ms(std::int64_t ms) {
  return TimePoint{Millis{ms}};
}

// Row has columns(), integer(column), text(column) and is_null(column); for NULL these return 0 and "". A corrupted or
// manually edited row is read as far as possible: an unknown state as `pending`, an unknown stage as `run`, an unknown
// outcome as no outcome.
template <class Row>
task::TaskRecord read_record(const Row& row) {
  const auto small = [&](RecordColumn column) { return static_cast<int>(row.integer(column)); };
  const auto text = [&](RecordColumn column) { return std::string{row.text(column)}; };
  const auto time = [&](RecordColumn column) { return from_ms(row.integer(column)); };
  const auto maybe_time = [&](RecordColumn column) {
    return row.is_null(column) ? std::nullopt : std::optional{from_ms(row.integer(column))};
  };
  task::TaskRecord record;
  TaskInfo& info = record.info;
  info.id = TaskId{row.integer(kId)};
  info.name_space = text(kNamespace);
  info.key = text(kKey);
  info.handler = text(kHandler);
  info.business_type = text(kBusinessType);
  info.business_id = text(kBusinessId);
  info.state = parse_state(row.text(kStatus)).value_or(TaskState::pending);
  info.stage = parse_stage(row.text(kStage)).value_or(Stage::run);
  info.outcome = parse_outcome(row.text(kOutcome));
  info.attempts = small(kAttempts);
  info.crashes = small(kCrashes);
  info.deliveries = small(kDeliveries);
  info.generation = small(kGeneration);
  info.version = row.integer(kVersion);
  info.created_at = time(kCreatedAt);
  info.next_at = time(kNextAt);
  info.finished_at = maybe_time(kFinishedAt);
  if (!row.is_null(kRequeuedAs)) info.requeued_as = TaskId{row.integer(kRequeuedAs)};
  info.first_failed_at = maybe_time(kFirstFailedAt);
  info.last_failed_at = maybe_time(kLastFailedAt);
  info.last_error = text(kLastError);
  info.tags = parse_tags(row.text(kTags));
  info.traceparent = text(kTraceparent);
  info.task_class = task::class_of(row.integer(kTaskClass));
  info.progress = text(kProgress);
  record.rules.max_attempts = small(kMaxAttempts);
  record.rules.max_duration = Millis{row.integer(kMaxDuration)};
  record.rules.deadline = maybe_time(kDeadline);
  record.rules.backoff = text(kBackoff);
  record.payload = text(kPayload);
  record.payload_version = small(kPayloadVersion);
  record.result = text(kResult);
  record.callback_attempts = small(kCallbackAttempts);
  record.locked_by = text(kLockedBy);
  record.lease_until = time(kLeaseUntil);
  if (row.columns() > kAttemptLog) info.last_attempts = task::parse_attempts(row.text(kAttemptLog));
  return record;
}

}  // namespace easyretry::storage
