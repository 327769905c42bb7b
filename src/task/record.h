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
  std::string result;         // the handler's result, kept for a callback that has to be retried
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
  std::string error;  // empty: nothing failed
  std::string result;
  // As in its row, for the counters of ended tasks; if `handler` is empty, a store reads them itself.
  std::string space;
  std::string handler;
};

// A change to a pending task; applied only if nothing has happened to it since.
struct Revision {
  Ticket ticket;
  std::optional<Millis> delay{};      // due this long after the store's now; nullopt: unchanged
  std::optional<RetryRules> rules{};  // nullopt: unchanged
};

// States, stages and outcomes as JSON and people write them: in lower case. Nullopt: nothing has that name.
std::string name_of(TaskState state);
std::string name_of(Stage stage);
std::string name_of(Outcome outcome);
std::optional<TaskState> state_named(std::string_view name);
std::optional<Stage> stage_named(std::string_view name);
std::optional<Outcome> outcome_named(std::string_view name);
std::span<const Outcome> all_outcomes();

}  // namespace easyretry::task
