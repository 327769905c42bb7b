#pragma once
// A task as the application sees it: its states and outcomes, a snapshot of its data, and a query for tasks.

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <easyretry/time.h>

#pragma GCC visibility push(default)
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

// The part of a task that remains to be done. Callbacks are separate stages: if one throws, only it is retried.
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

enum class AttemptEnd {
  succeeded,
  failed,
  crashed,  // its instance died while it ran
  lost,     // its instance died, perhaps before the attempt began
};

std::string_view to_string(AttemptEnd end);

// The order of tasks while more are due than can run: of 21 tasks that an instance starts, 16 are urgent, 4 normal and
// 1 is background. A class that has nothing due leaves its share to the others.
enum class TaskClass : std::uint8_t { normal, urgent, background };

std::string_view to_string(TaskClass task_class);

// A finished run of the handler. A run that was handed back does not count and is not recorded; nor is that of a task
// that succeeds at its first attempt.
struct PastAttempt {
  int number = 0;                       // from 1; the attempt after a crash has the same number
  std::optional<TimePoint> began_at{};  // nullopt: unknown, as after a crash
  TimePoint ended_at{};                 // after a crash: when its lease expired
  AttemptEnd end = AttemptEnd::failed;
  std::string by{};     // the instance
  std::string error{};  // its first 300 bytes; empty: nothing failed, or the instance died
};

struct TaskInfo {
  TaskId id{};
  std::string name_space;  // the namespace
  std::string key;
  std::string handler;
  std::string business_type;
  std::string business_id;
  std::vector<std::string> tags;
  std::string traceparent;
  TaskClass task_class = TaskClass::normal;
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
  // The last eight, newest first. Only find() returns them.
  std::vector<PastAttempt> last_attempts{};
};

// How Engine::wait() ended.
enum class WaitEnd {
  ended,    // the task has ended; TaskInfo::outcome says how
  timeout,  // the task did not end in this time
  gone,     // it has ended, but it is unknown how: history does not keep tasks that end like this
  unknown,  // there is no such task; perhaps it ended long ago and has left history, or history does not keep it
  stopped,  // this engine was stopped
};
std::string_view to_string(WaitEnd end);

// Why a task ended without success.
struct Failure {
  Outcome outcome = Outcome::exhausted;
  std::string message;
};

// A half-open interval: `from` is included, `until` is not. Either end may be left open.
struct TimeRange {
  std::optional<TimePoint> from{};
  std::optional<TimePoint> until{};

  bool restricts() const { return from || until; }
  bool contains(TimePoint time) const { return (!from || time >= *from) && (!until || time < *until); }
};

// The order of a list, by id: ids grow with the time at which tasks are stored. On Redis, the ids of two instances may
// differ by a minute.
enum class ListOrder {
  oldest_first,
  newest_first,
};

std::string_view to_string(ListOrder order);  // "oldest", "newest"

// All conditions must hold; an empty condition matches everything.
struct TaskQuery {
  std::string name_space{};  // the namespace; ignored by an Engine, which uses its own
  bool finished = false;     // search history instead of live tasks
  std::string key{};
  std::string handler{};
  std::string business_type{};
  std::string business_id{};
  std::optional<TaskState> state{};
  std::optional<Outcome> outcome{};
  TimeRange created_at{};
  TimeRange finished_at{};  // only for finished tasks; months outside the range are not read
  bool requeued = false;    // in history: include tasks that were requeued (TaskInfo::requeued_as)
  // Live tasks with an error; in history, tasks that ended neither succeeded nor cancelled. No index helps with this
  // and the next six: tasks are read until enough of them match.
  bool failed = false;
  std::string error{};    // as `failed`, with this kind of error: a fingerprint of GET /v1/errors
  int attempts_from = 0;  // at least this many
  TimeRange due_at{};     // only live tasks
  std::string owner{};    // only live tasks: claimed by this instance
  std::string tag{};      // one of its tags
  std::optional<TaskClass> task_class{};
  ListOrder order = ListOrder::oldest_first;
  TaskId after{};  // for paging: only tasks that come after this one in the order; empty: from the beginning
  std::size_t limit = 100;
};

}  // namespace easyretry
#pragma GCC visibility pop
