#pragma once
// A task as it is stored, and what is asked of a store about it. Plain data.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <easyretry/submit.h>
#include <easyretry/task.h>

namespace easyretry::task {

// The part of a policy that is stored with the task, so that every instance applies the same rules.
struct RetryRules {
  int max_attempts = 0;  // 0 = no limit
  Millis max_duration{0};
  std::optional<TimePoint> deadline;
  std::string backoff;  // policy::to_text(Backoff); empty = the handler's own
  friend bool operator==(const RetryRules&, const RetryRules&) = default;
};

struct NewTask {
  std::string name_space;
  std::string key;
  std::string handler;
  std::string payload;
  int payload_version = 1;
  std::string business_type;
  std::string business_id;
  std::vector<std::string> tags;
  std::string traceparent;
  TaskClass task_class = TaskClass::normal;
  RetryRules rules;
  std::optional<TimePoint> due_at;  // absolute; without it the task is due `delay` after the store's now
  Millis delay{0};
  OnDuplicate on_duplicate = OnDuplicate::keep;

  // Attempts made before the task was stored, and how the last one failed.
  int attempts = 0;
  std::string error;

  // With a lease the task is stored as running, held by this owner, and its next attempt counts; 0: stored as pending.
  std::string owner;
  Millis lease{0};
};

struct TaskRecord {
  TaskInfo info;
  std::string payload;
  int payload_version = 1;
  RetryRules rules;
  // The handler's result: of a live task for a callback that has to be retried, of an ended one if it is kept. Lists of
  // ended tasks do not have it.
  std::string result;
  int callback_attempts = 0;  // like attempts, for the stages after `run`
  std::string locked_by;
  TimePoint lease_until{};
  // Its worker began at once. False: it is not held, or it may still wait for a worker. The next claim needs this;
  // stores keep it, but do not return it to readers.
  bool began = false;
};

// A task in one particular state: every compare-and-set compares with it.
struct Ticket {
  TaskId id{};
  std::int64_t version = 0;
  friend auto operator<=>(const Ticket&, const Ticket&) = default;
};

// A task that can be claimed at `due`: what the engine keeps of it in memory.
struct DueTask : Ticket {
  TimePoint due{};
  std::uint32_t handler = 0;  // a number: index into LoadReply::handlers, or, in the engine, its HandlerNo
  // 0: nothing speaks against it. Otherwise its last worker died, or earlier ones did: one more than its proven
  // crashes, the last one included.
  std::uint8_t suspicion = 0;
  TaskClass task_class = TaskClass::normal;
  bool retried = false;  // is_retried() in transitions.h
};

// The outcome of a claimed task; applied only if no other instance has claimed it since.
struct Settlement {
  enum class Kind {
    finish,     // moves to history with `outcome`
    retry,      // pending again, due `delay` from the store's now
    advance,    // pending in `stage` with `outcome` and `result` remembered, due after `delay`
    hand_back,  // pending as if it had not been claimed, not due before `delay`; the attempt does not count
  };
  Ticket ticket;
  Kind kind = Kind::finish;
  Outcome outcome = Outcome::succeeded;
  Stage stage = Stage::run;
  Millis delay{0};
  std::string error;    // empty: nothing failed
  std::string attempt;  // its line for TaskInfo::last_attempts (attempt_log.h); a hand_back has none
  std::string result;
  // Of a finish, if history keeps the task: its result is kept for this long; 0: not at all.
  Millis keep_result{0};
  std::string thrown;  // of a final failure: the exception, for the log; not stored
  bool keep = true;    // false: the end leaves no history, as with History::none
  // As in its row, for the counters of ended tasks; if `handler` is empty, a store reads them itself.
  std::string name_space;
  std::string handler;

  bool keeps_result() const { return keep && keep_result > Millis{0} && !result.empty(); }
};

// A change to a pending task; applied only if nothing has happened to it since.
struct Revision {
  Ticket ticket;
  std::optional<Millis> delay{};      // due this long after the store's now; nullopt: unchanged
  std::optional<RetryRules> rules{};  // nullopt: unchanged
};

// The end of a task by a user, who does not hold it: pending or running, whoever holds it.
struct Ending {
  TaskId id{};
  Outcome outcome = Outcome::cancelled;
  // Its callback runs first (callback_of). Not applied where a callback is already due, so sending it again tells once.
  // False: to history at once. Then `cancelled` overrules an outcome whose callback is due; another outcome ends such a
  // task only with `drop_callback`.
  bool tell = false;
  // Without `tell`: also ends a task that has this outcome already and waits for its callback, which is not called.
  bool drop_callback = false;
  std::string error{};    // becomes its last error; empty: that stays
  std::string result{};   // for on_success
  Millis keep_result{0};  // without `tell`: as in a Settlement

  bool keeps_result() const { return keep_result > Millis{0} && !result.empty(); }
};

// The stage in which the owner is notified of an outcome.
constexpr Stage callback_of(Outcome outcome) {
  return outcome == Outcome::succeeded ? Stage::on_success : Stage::on_final_failure;
}

// As the columns of SQL stores have them: in capitals.
std::string_view stored_name(TaskState state);
std::string_view stored_name(Stage stage);
std::string_view stored_name(Outcome outcome);

// The inverse of to_string. Nullopt: nothing has that name.
std::optional<TaskState> state_named(std::string_view name);
std::optional<Stage> stage_named(std::string_view name);
std::optional<Outcome> outcome_named(std::string_view name);
std::optional<AttemptEnd> attempt_end_named(std::string_view name);
std::optional<TaskClass> class_named(std::string_view name);

// A class as stores keep it: 0 is normal, and tasks of releases that knew no classes are. Any other number, which is
// corrupted, manually edited or of a later release, is read as normal.
constexpr std::int64_t stored_number(TaskClass task_class) {
  return static_cast<std::int64_t>(task_class);
}
constexpr TaskClass class_of(std::int64_t number) {
  return number == 1 || number == 2 ? static_cast<TaskClass>(number) : TaskClass::normal;
}
static_assert(class_of(1) == TaskClass::urgent && class_of(2) == TaskClass::background);
std::span<const Outcome> all_outcomes();

}  // namespace easyretry::task
