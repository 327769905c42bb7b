#include "server/task_answers.h"

#include <algorithm>

#include "storage/retention.h"

namespace easyretry::server {
namespace {

std::optional<std::string_view> name_if_any(const std::optional<Outcome>& outcome) {
  return outcome ? std::optional{to_string(*outcome)} : std::nullopt;
}

std::optional<ShownTime> time_if(bool wanted, TimePoint time) {
  return wanted ? std::optional<ShownTime>{time} : std::nullopt;
}

InClass class_of(const TaskInfo& info) {
  if (info.task_class == TaskClass::normal) return {};
  return {to_string(info.task_class)};
}

TaskSummary summary_of(const TaskInfo& info, bool with_next) {
  return {.id = info.id,
          .key = info.key,
          .handler = info.handler,
          .business_type = if_any(info.business_type),
          .business_id = if_any(info.business_id),
          .traceparent = if_any(info.traceparent),
          .tags = {info.tags.begin(), info.tags.end()},
          .attempts = info.attempts,
          .version = info.version,
          .outcome = name_if_any(info.outcome),
          .next_at = time_if(with_next, info.next_at)};
}

PolicyAnswer policy_of(const task::RetryRules& rules) {
  return {rules.max_attempts, rules.max_duration, rules.deadline, if_any(rules.backoff)};
}

AttemptAnswer shown_attempt(const PastAttempt& attempt) {
  AttemptAnswer answer{.number = attempt.number,
                       .end = to_string(attempt.end),
                       .by = if_any(attempt.by),
                       .began_at = attempt.began_at,
                       .ended_at = attempt.ended_at,
                       .error = if_any(attempt.error)};
  if (attempt.began_at) answer.took_ms = attempt.ended_at - *attempt.began_at;
  return answer;
}

std::optional<std::vector<AttemptAnswer>> attempts_of(const TaskInfo& info) {
  if (info.last_attempts.empty()) return std::nullopt;
  std::vector<AttemptAnswer> answers;
  answers.reserve(info.last_attempts.size());
  for (const PastAttempt& attempt : info.last_attempts) answers.push_back(shown_attempt(attempt));
  return answers;
}

TaskDetails details_of(const task::TaskRecord& record) {
  const TaskInfo& info = record.info;
  const bool running = info.state == TaskState::running;
  const bool removed = info.state == TaskState::finished && storage::lacks_arguments(record);
  return {.state = to_string(info.state),
          .stage = to_string(info.stage),
          .crashes = info.crashes,
          .deliveries = info.deliveries,
          .generation = info.generation,
          .created_at = info.created_at,
          .finished_at = info.finished_at,
          .requeued_as = info.requeued_as,
          .first_failed_at = info.first_failed_at,
          .last_failed_at = info.last_failed_at,
          .last_error = if_any(info.last_error),
          .last_attempts = attempts_of(info),
          .progress = if_any(info.progress),
          .policy = policy_of(record.rules),
          .locked_by = running ? if_any(record.locked_by) : std::nullopt,
          .lease_until = time_if(running, record.lease_until),
          .args_removed = removed ? std::optional{true} : std::nullopt};
}

}  // namespace

TaskAnswer shown(const task::TaskRecord& record) {
  const TaskInfo& info = record.info;
  return {{info.name_space}, class_of(info), summary_of(info, info.state != TaskState::finished), details_of(record)};
}

EventAnswer shown(const Event& event) {
  EventAnswer answer{name_of(event.kind), event.at, if_any(event.message), if_any(event.table)};
  if (event.task.id != TaskId{}) {
    answer.task = EventTask{{event.task.name_space},
                            class_of(event.task),
                            summary_of(event.task, event.kind == EventKind::retry_scheduled)};
  }
  return answer;
}

std::string name_of(EventKind kind) {
  std::string name{to_string(kind)};
  std::replace(name.begin(), name.end(), ' ', '_');
  return name;
}

}  // namespace easyretry::server
