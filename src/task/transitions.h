#pragma once
// The life of a task as one table. The memory store applies it; every other store is compared with the memory store.
//
//            insert                claim                       finish
//   caller ─────────► pending ──────────────► running ─────────────────► finished (history)
//                        ▲ ▲                   │ │ ▲
//                        │ └── retry, advance ─┘ │ │ claim_expired (the worker died while it ran: a crash)
//                        └──── hand_back ────────┘ └─┘ claim_suspect (the worker died; it may not have begun)
//   revise gives a pending task another due time, or other rules; it stays pending.
//   end ends a pending or running task at once, as a user says; end_and_tell runs the callback first.
//   requeue starts a finished task again, as a new generation with a new id.

#include <optional>
#include <span>
#include <string_view>

#include "task/record.h"

namespace easyretry::task {

enum class Event {
  claim,
  claim_expired,
  claim_suspect,
  renew,
  retry,
  advance,
  hand_back,
  finish,
  revise,
  end,
  end_and_tell,
  requeue,
};

std::string_view to_string(Event event);

struct Transition {
  TaskState from;
  Event event;
  TaskState to;
  int attempts;  // added to attempts, or to callback_attempts after stage `run`
  int crashes;
  bool new_version;  // the holder of the old version can no longer change the task
};

std::span<const Transition> transitions();
std::optional<Transition> transition(TaskState from, Event event);

// The guards. A claim needs the version it has seen, a due task, and no live lease.
std::optional<Event> claim_event(const TaskRecord& record, const Ticket& ticket, TimePoint now);
// Settling and renewing need the version the claim gave.
bool holds(const TaskRecord& record, const Ticket& ticket);
// A revision needs the version it has seen, and a task that is not held: a running one keeps the rules it began with.
bool may_revise(const TaskRecord& record, const Ticket& ticket);
// A task that waits for its callback has its outcome: end_and_tell would run the callback twice, or report a success
// as a failure. A cancellation without a callback overrules it, for callbacks that never work; the same outcome with
// drop_callback ends it as it was decided.
std::optional<Event> end_event(const TaskRecord& record, const Ending& ending);

// The suspicion against a task that is about to be claimed: 0 for none. Otherwise one more than the crashes it will
// have once it is claimed.
int suspicion(const TaskRecord& record);
// Whether its next run is a retry: it was attempted before. A callback is no attempt.
bool is_retried(const TaskRecord& record);

// The changes. Each requires that its guard allowed it. `begin`: its worker begins at once. The record of an ended task
// has no result: a store keeps results apart (Settlement::keep_result).
void apply_claim(TaskRecord& record, Event event, std::string_view owner, TimePoint now, Millis lease,
                 bool begin = true);
void apply_renewal(TaskRecord& record, TimePoint now, Millis lease, const std::optional<std::string>& progress);
// OnDuplicate::update_policy: the task continues with the rules of the new submission.
void apply_update(TaskRecord& record, const NewTask& task);
void apply_revision(TaskRecord& record, const Revision& revision, TimePoint now);
void apply_settlement(TaskRecord& record, const Settlement& settlement, TimePoint now);
void apply_end(TaskRecord& record, Event event, const Ending& ending, TimePoint now);

// A new row for a task to be stored, and the next generation of one that has ended. A deadline that has passed is
// dropped, because a requeued task is meant to run. The caller marks the ended one with the new id.
TaskRecord new_record(const NewTask& task, TaskId id, TimePoint now);
TaskRecord next_generation(const TaskRecord& finished, TaskId id, TimePoint now);

}  // namespace easyretry::task
