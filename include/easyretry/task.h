#pragma once
// What a task is to its owner: names for its place in life, and a snapshot of it.

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <easyretry/time.h>

namespace easyretry {

// 64 bits that carry the creation time and the shard (src/task/task_id.h), so an id alone tells where its row lives.
enum class TaskId : std::int64_t {};
enum class ShardId : std::uint16_t {};

std::string to_string(TaskId id);

enum class TaskState {
  pending,   // waits for next_at
  running,   // leased by one worker
  finished,  // in history; `outcome` says how it ended
};

// What is left to be done. Callbacks are stages: one that throws is retried alone, the handler is not run again.
enum class Stage { run, on_success, on_final_failure };

enum class Outcome {
  succeeded,
  exhausted,    // max_attempts, max_duration or deadline reached
  rejected,     // failed in a way the policy does not retry, or the handler gave up
  quarantined,  // kept killing its worker
  parked,       // its payload cannot be read
  cancelled,
};

std::string_view to_string(TaskState state);
std::string_view to_string(Stage stage);
std::string_view to_string(Outcome outcome);

struct TaskInfo {
  TaskId id{};
  std::string space;  // the namespace: one application's tasks
  std::string key;
  std::string handler;
  std::string business_type;
  std::string business_id;
  std::vector<std::string> tags;
  std::string traceparent;
  TaskState state = TaskState::pending;
  Stage stage = Stage::run;
  std::optional<Outcome> outcome;  // decided but not yet told to the owner, or final
  int attempts = 0;                // executions that count; one that was handed back does not
  int crashes = 0;                 // executions whose worker died
  int deliveries = 0;              // every time a worker was given the task
  int generation = 0;              // how often it was requeued from history
  std::int64_t version = 0;        // the fencing token; grows with every change of owner
  TimePoint created_at{};
  TimePoint next_at{};
  std::optional<TimePoint> finished_at;
  std::optional<TimePoint> first_failed_at;
  std::optional<TimePoint> last_failed_at;
  std::string last_error;
  std::string progress;                 // what the last handler left with current_task()->progress
  bool no_handler = false;              // due, but no handler of that name is registered here
  std::optional<TaskId> requeued_as{};  // of a finished task: the task it was started again as
};

// Why a task ended without success.
struct Failure {
  Outcome outcome = Outcome::exhausted;
  std::string message;
};

}  // namespace easyretry
