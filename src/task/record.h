#pragma once
// A task as it is stored. Plain data.

#include <optional>
#include <string>
#include <vector>

#include <easyretry/submit.h>
#include <easyretry/task.h>

namespace easyretry::task {

// The part of a policy that travels with the task, so that any instance judges it alike.
struct RetryRules {
  int max_attempts = 0;  // 0 = no limit
  Millis max_duration{0};
  std::optional<TimePoint> deadline;
  std::string backoff;  // policy::to_text(Backoff); empty = the handler's own
  friend bool operator==(const RetryRules&, const RetryRules&) = default;
};

struct NewTask {
  std::string space;
  std::string key;
  std::string handler;
  std::string payload;
  int payload_version = 1;
  std::string business_type;
  std::string business_id;
  std::vector<std::string> tags;
  std::string traceparent;
  RetryRules rules;
  std::optional<TimePoint> due_at;  // absolute; without it the task is due `delay` after the store's now
  Millis delay{0};
  OnDuplicate on_duplicate = OnDuplicate::keep;

  // Attempts that were made before the task was stored, and how the last one failed.
  int attempts = 0;
  std::string error;

  // Stored as running, by this owner, for the next attempt, which counts; 0: as pending.
  std::string owner;
  Millis lease{0};
};

struct TaskRecord {
  TaskInfo info;
  std::string payload;
  int payload_version = 1;
  RetryRules rules;
  std::string result;         // what the handler returned, kept for a callback that has to be retried
  int callback_attempts = 0;  // like attempts, for the stages after `run`
  std::string locked_by;
  TimePoint lease_until{};
  // Its worker began with it at once. False: nobody holds it, or it may still wait for a worker. The next claim goes by
  // it; stores keep it, but do not give it to those who read.
  bool began = false;
};

// A task in one particular state: what every compare-and-set compares with.
struct Ticket {
  TaskId id{};
  std::int64_t version = 0;
  friend auto operator<=>(const Ticket&, const Ticket&) = default;
};

// What became of a claimed task; applied only if nobody else has claimed it since.
struct Settlement {
  enum class Kind {
    finish,     // to history with `outcome`
    retry,      // pending again, due `delay` from the store's now
    advance,    // pending in `stage` with `outcome` and `result` remembered, due after `delay`
    hand_back,  // pending as if it had not been claimed, not due before `delay`; the attempt does not count
  };
  Ticket ticket;
  Kind kind = Kind::finish;
  Outcome outcome = Outcome::succeeded;
  Stage stage = Stage::run;
  Millis delay{0};
  std::string error;  // empty: nothing failed
  std::string result;
  // Whose task it is, as its row says, for the sums of tasks that ended; a store reads them where `handler` is empty.
  std::string space;
  std::string handler;
};

// What a task that waits is to go on by; applied only if nothing has happened to it since.
struct Revision {
  Ticket ticket;
  std::optional<Millis> delay{};      // due so long after the store's now; nullopt: as it was
  std::optional<RetryRules> rules{};  // nullopt: as they were
};

}  // namespace easyretry::task
