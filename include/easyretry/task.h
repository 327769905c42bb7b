#pragma once
// A task as the application sees it: its states and outcomes, and a snapshot of its data.

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <easyretry/time.h>

namespace easyretry {

// 64 bits that contain the creation time and the shard (src/task/task_id.h), so the id alone locates the row.
enum class TaskId : std::int64_t {};
enum class ShardId : std::uint16_t {};

std::string to_string(TaskId id);

enum class TaskState {
  pending,   // waiting for next_at
  running,   // leased to one worker
  finished,  // in history; `outcome` tells how it ended
};

// What remains to be done. Callbacks are separate stages: if one throws, only the callback is retried, not the handler.
enum class Stage { run, on_success, on_final_failure };

enum class Outcome {
  succeeded,
  exhausted,    // max_attempts, max_duration or deadline reached
  rejected,     // failed with an error that the policy does not retry, or the handler gave up
  quarantined,  // repeatedly killed its worker
  parked,       // its payload cannot be decoded
  cancelled,
};

std::string_view to_string(TaskState state);
std::string_view to_string(Stage stage);
std::string_view to_string(Outcome outcome);

struct TaskInfo {
  TaskId id{};
  std::string space;  // the namespace
  std::string key;
  std::string handler;
  std::string business_type;
  std::string business_id;
  std::vector<std::string> tags;
  std::string traceparent;
  TaskState state = TaskState::pending;
  Stage stage = Stage::run;
  std::optional<Outcome> outcome;  // final, or decided but the callback has not run yet
  int attempts = 0;                // executions; one that was handed back does not count
  int crashes = 0;                 // executions whose worker died
  int deliveries = 0;              // how often a worker claimed the task
  int generation = 0;              // how often it was requeued from history
  std::int64_t version = 0;        // the fencing token; increases with every change of owner
  TimePoint created_at{};
  TimePoint next_at{};
  std::optional<TimePoint> finished_at;
  std::optional<TimePoint> first_failed_at;
  std::optional<TimePoint> last_failed_at;
  std::string last_error;
  std::string progress;                 // the last note from current_task()->progress
  bool no_handler = false;              // due, but this instance has not registered its handler
  std::optional<TaskId> requeued_as{};  // of a finished task that was requeued: the id of the new task
};

// Why a task ended without success.
struct Failure {
  Outcome outcome = Outcome::exhausted;
  std::string message;
};

}  // namespace easyretry
