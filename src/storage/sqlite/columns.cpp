#include "storage/sqlite/columns.h"

#include <array>
#include <optional>
#include <string_view>

#include <easyretry/json.h>

namespace easyretry::storage::sqlite {
namespace {

constexpr const char* kColumns =
    "id, namespace, task_key, method_name, business_type, business_id, stage, outcome, attempt_count, crash_count, "
    "delivery_count, generation, version, created_at, next_retry_time, first_failed_at, last_error_time, "
    "last_error_msg, params_json, payload_version, max_attempts, max_retry_duration, deadline, backoff_strategy, "
    "result_json, callback_count, tags, traceparent, progress, ";

enum Column : int {
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
};

constexpr std::array kStates{TaskState::pending, TaskState::running, TaskState::finished};
constexpr std::array kStages{Stage::run, Stage::on_success, Stage::on_final_failure};
constexpr std::array kOutcomes{Outcome::succeeded,   Outcome::exhausted, Outcome::rejected,
                               Outcome::quarantined, Outcome::parked,    Outcome::cancelled};

template <class Names>
auto named(std::string_view text, const Names& all) -> std::optional<typename Names::value_type> {
  for (const auto one : all) {
    if (to_string(one) == text) return one;
  }
  return std::nullopt;
}

class Row {
 public:
  explicit Row(const Statement& row) : row_(row) {}
  void get(Column column, std::string& into) const { into = row_.text(column); }
  void get(Column column, int& into) const { into = static_cast<int>(row_.integer(column)); }
  void get(Column column, std::int64_t& into) const { into = row_.integer(column); }
  void get(Column column, Millis& into) const { into = Millis{row_.integer(column)}; }
  void get(Column column, TimePoint& into) const { into = from_ms(row_.integer(column)); }
  void get(Column column, std::optional<TimePoint>& into) const {
    if (!row_.is_null(column)) into = from_ms(row_.integer(column));
  }
  std::string_view text(Column column) const { return row_.text(column); }

 private:
  const Statement& row_;
};

std::vector<std::string> read_tags(std::string_view text) {
  if (text.empty()) return {};
  try {
    return from_json<std::vector<std::string>>(text);
  } catch (const JsonError&) {
    return {};  // edited by hand; tags decide nothing
  }
}

void read_info(const Row& row, TaskInfo& info) {
  row.get(kSpace, info.space);
  row.get(kKey, info.key);
  row.get(kHandler, info.handler);
  row.get(kBusinessType, info.business_type);
  row.get(kBusinessId, info.business_id);
  info.state = named(row.text(kStatus), kStates).value_or(TaskState::pending);
  info.stage = named(row.text(kStage), kStages).value_or(Stage::run);
  info.outcome = named(row.text(kOutcome), kOutcomes);
  row.get(kAttempts, info.attempts);
  row.get(kCrashes, info.crashes);
  row.get(kDeliveries, info.deliveries);
  row.get(kGeneration, info.generation);
  row.get(kVersion, info.version);
  row.get(kCreatedAt, info.created_at);
  row.get(kNextAt, info.next_at);
  row.get(kFinishedAt, info.finished_at);
  row.get(kFirstFailedAt, info.first_failed_at);
  row.get(kLastFailedAt, info.last_failed_at);
  row.get(kLastError, info.last_error);
  info.tags = read_tags(row.text(kTags));
  row.get(kTraceparent, info.traceparent);
  row.get(kProgress, info.progress);
}

void read_rules(const Row& row, task::RetryRules& rules) {
  row.get(kMaxAttempts, rules.max_attempts);
  row.get(kMaxDuration, rules.max_duration);
  row.get(kDeadline, rules.deadline);
  row.get(kBackoff, rules.backoff);
}

}  // namespace

std::string tags_text(const std::vector<std::string>& tags) {
  return tags.empty() ? std::string{} : to_json(tags);
}

std::string live_columns() {
  return std::string{kColumns} + "status, locked_by, lease_until, NULL";
}
std::string finished_columns() {
  return std::string{kColumns} + "'FINISHED', NULL, 0, finished_at";
}

task::TaskRecord read_record(const Statement& statement) {
  const Row row{statement};
  task::TaskRecord record;
  record.info.id = TaskId{statement.integer(kId)};
  read_info(row, record.info);
  read_rules(row, record.rules);
  row.get(kPayload, record.payload);
  row.get(kPayloadVersion, record.payload_version);
  row.get(kResult, record.result);
  row.get(kCallbackAttempts, record.callback_attempts);
  row.get(kLockedBy, record.locked_by);
  row.get(kLeaseUntil, record.lease_until);
  return record;
}

}  // namespace easyretry::storage::sqlite
