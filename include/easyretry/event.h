#pragma once
// What happens to tasks and their tables, as it happens on this instance: engine.on_event([](const Event& e) { … }).

#include <functional>
#include <string>
#include <string_view>

#include <easyretry/task.h>

namespace easyretry {

enum class EventKind {
  stored,
  claimed,         // a worker was given it; an execution follows
  attempt_failed,  // `message` says why; what comes next is said by the event that follows
  retry_scheduled,
  succeeded,
  gave_up,  // exhausted or rejected: event.task.outcome
  cancelled,
  quarantined,
  parked,
  handed_back,      // not run here after all; the attempt does not count
  lease_lost,       // someone else may run it; what this instance's handler returns changes nothing
  callback_failed,  // on_success, on_final_failure or on_retry_scheduled threw

  // Of the instances: `message` says which, and no task
  member_joined,
  member_left,
  member_refused,  // somebody in the list whose shards are not ours: another application, other shards
  shards_changed,  // this instance looks after others than before

  // Housekeeping of the store, by this instance: event.table, and no task
  table_made,       // ahead of time
  table_emptied,    // before it is dropped: `message` says how many unfinished tasks were moved to another one
  table_dropped,    // it was empty
  history_dropped,  // a month of history, old enough
};

std::string_view to_string(EventKind kind);

struct Event {
  EventKind kind = EventKind::stored;
  TimePoint at{};   // by the store's clock
  TaskInfo task{};  // as it was when the step began; next_at, outcome and last_error as the step made them
  std::string message{};
  std::string table{};
};

// May throw: that is counted (Stats::listener_failures) and changes nothing.
using EventListener = std::function<void(const Event&)>;

enum class Delivery {
  direct,  // on the thread where it happens: sees every event, and holds up the engine if it is slow
  queued,  // on a thread of its own, in order; when 10,000 wait, further ones are dropped and counted
};

}  // namespace easyretry
