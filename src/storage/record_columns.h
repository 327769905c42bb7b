#pragma once
// A TaskRecord as columns: one order for every SQL statement that gives whole records, whatever the database.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "task/record.h"

namespace easyretry::storage {

enum RecordColumn : int {
  kId,
  kSpace,
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
};

// What read_record expects to be selected, in this order.
std::string live_columns();
std::string finished_columns();

// Conditions for statements. A stage that nobody knows is read as `run`, so it has to count as one: attempts end a
// task.
inline constexpr const char* kIsCallback = "stage IN ('ON_SUCCESS', 'ON_FINAL_FAILURE')";
inline constexpr const char* kIsRun = "stage NOT IN ('ON_SUCCESS', 'ON_FINAL_FAILURE')";

// The names that are stored, read back; nullopt for anything else.
std::optional<TaskState> parse_state(std::string_view text);
std::optional<Stage> parse_stage(std::string_view text);
std::optional<Outcome> parse_outcome(std::string_view text);

// Tags as they are stored; empty for none. What was edited by hand into nonsense is read as none: tags decide nothing.
std::string tags_text(const std::vector<std::string>& tags);
std::vector<std::string> parse_tags(std::string_view text);

inline std::int64_t number(TaskId id) {
  return static_cast<std::int64_t>(id);
}
inline std::int64_t to_ms(TimePoint time) {
  return time.time_since_epoch().count();
}
inline TimePoint from_ms(std::int64_t ms) {
  return TimePoint{Millis{ms}};
}

// Row has integer(column), text(column) and is_null(column); a NULL is 0 and "" to the first two. A row that was edited
// into nonsense is read as far as it goes: an unknown state is `pending`, an unknown stage `run`,
// an unknown outcome none.
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
  info.space = text(kSpace);
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
  return record;
}

}  // namespace easyretry::storage
