#include "engine/reporting.h"

#include "engine/attempt.h"
#include "engine/error_text.h"
#include "engine/task_spans.h"
#include "policy/decide.h"
#include "task/transitions.h"

namespace easyretry::engine {
namespace {

using namespace std::chrono_literals;
using Kind = task::Settlement::Kind;

const Backoff kCallbackBackoff = Exponential{.first = 1s, .cap = 15min, .jitter = 1s};

bool asks_for_too_much(const std::exception_ptr& thrown) {
  try {
    std::rethrow_exception(thrown);
  } catch (const detail::UndecodableResult&) {
    return true;
  } catch (...) {
    return false;
  }
}

Counters::Count& counter(Counters& counters, Outcome outcome) {
  switch (outcome) {
    case Outcome::succeeded: return counters.succeeded;
    case Outcome::exhausted: return counters.exhausted;
    case Outcome::rejected: return counters.rejected;
    case Outcome::quarantined: return counters.quarantined;
    case Outcome::parked: return counters.parked;
    case Outcome::cancelled: return counters.cancelled;
  }
  return counters.internal_errors;
}

void count(Counters& counters, const task::Settlement& settlement) {
  switch (settlement.kind) {
    case Kind::retry: return Counters::add(counters.retried);
    case Kind::hand_back: return Counters::add(counters.handed_back);
    case Kind::advance: return;
    case Kind::finish: return Counters::add(counter(counters, settlement.outcome));
  }
}

EventKind kind_of(Outcome outcome) {
  switch (outcome) {
    case Outcome::succeeded: return EventKind::succeeded;
    case Outcome::exhausted:
    case Outcome::rejected: return EventKind::gave_up;
    case Outcome::quarantined: return EventKind::quarantined;
    case Outcome::parked: return EventKind::parked;
    case Outcome::cancelled: return EventKind::cancelled;
  }
  return EventKind::gave_up;
}

// nullopt: a callback comes first; if it had failed before, callback_failed was the event.
std::optional<EventKind> kind_of(const task::Settlement& settlement) {
  switch (settlement.kind) {
    case Kind::retry: return EventKind::retry_scheduled;
    case Kind::hand_back: return EventKind::handed_back;
    case Kind::advance: return std::nullopt;
    case Kind::finish: return kind_of(settlement.outcome);
  }
  return std::nullopt;
}

// `task` as history has it.
TaskInfo ended_task(const Context& context, const task::Settlement& settlement, TaskInfo task) {
  task.state = TaskState::finished;
  task.outcome = settlement.outcome;
  task.finished_at = context.store_now();
  if (!settlement.error.empty()) task.last_error = settlement.error;
  ++task.version;
  return task;
}

// A final failure is logged once, when it is stored: a callback that follows is a stage of its own. A cancellation was
// wanted.
bool is_final_failure(const task::Settlement& settlement, const TaskInfo& task) {
  const Outcome outcome = settlement.outcome;
  if (task.stage != Stage::run || outcome == Outcome::succeeded || outcome == Outcome::cancelled) return false;
  return settlement.kind == Kind::finish || settlement.kind == Kind::advance;
}

EventKind kind_of(storage::KeepStep::Kind kind) {
  switch (kind) {
    case storage::KeepStep::Kind::made: return EventKind::table_made;
    case storage::KeepStep::Kind::emptied: return EventKind::table_emptied;
    case storage::KeepStep::Kind::dropped: return EventKind::table_dropped;
    case storage::KeepStep::Kind::history_dropped: return EventKind::history_dropped;
  }
  return EventKind::table_made;
}

}  // namespace

void report(Context& context, const task::Settlement& settlement, const TaskInfo& task) {
  count(context.counters, settlement);
  if (is_final_failure(settlement, task)) {
    const std::string& error = settlement.error.empty() ? task.last_error : settlement.error;
    context.failures.add(task, settlement.outcome, error, settlement.thrown);
  }
  if (settlement.kind == Kind::finish && context.waits.any()) {
    context.waits.ended_here(ended_task(context, settlement, task));
  }
  if (!context.events.heard()) return;
  const auto kind = kind_of(settlement);
  if (!kind) return;
  Event event{*kind, context.store_now(), task, settlement.error};
  if (settlement.kind == Kind::finish) event.task.outcome = settlement.outcome;
  if (settlement.kind == Kind::retry) event.task.next_at = event.at + settlement.delay;
  if (!settlement.error.empty()) event.task.last_error = settlement.error;
  context.events.tell(event);
}

void report(Context& context, const task::Ending& ending, const TaskInfo& task) {
  task::Settlement settlement;
  if (ending.tell) settlement.kind = Kind::advance;
  settlement.outcome = ending.outcome;
  settlement.error = ending.error;
  report(context, settlement, task);
}

void report(Context& context, const storage::KeepStep& step) {
  Event event{.kind = kind_of(step.kind), .at = context.store_now(), .table = step.table};
  if (step.rows > 0) event.message = std::to_string(step.rows) + " unfinished tasks moved to another table";
  const std::string more = event.message.empty() ? "" : ": " + event.message;
  context.log(LogLevel::info, std::string{to_string(event.kind)} + " " + event.table + more);
  if (context.events.heard()) context.events.tell(event);
}

void report_stored(Context& context, const task::NewTask& task, TaskId id, TimePoint due) {
  Counters::add(context.counters.stored);
  if (!context.events.heard()) return;
  const TimePoint now = context.store_now();
  Event event{EventKind::stored, now, task::new_record(task, id, now).info, task.error};
  event.task.next_at = due;
  context.events.tell(event);
}

void report_requeued(Context& context, const TaskInfo& ended, TaskId id) {
  Counters::add(context.counters.stored);
  if (context.spans.heard()) tell_requeue(context, ended, id);
  if (!context.events.heard()) return;
  const TimePoint now = context.store_now();
  Event event{EventKind::stored, now, ended, "requeued from " + to_string(ended.id)};
  event.task.id = id;
  event.task.state = TaskState::pending;
  event.task.stage = Stage::run;
  event.task.outcome.reset();
  event.task.finished_at.reset();
  event.task.attempts = 0;
  event.task.next_at = now;
  ++event.task.generation;
  context.events.tell(event);
}

Millis callback_delay(int tries, double random) {
  return policy::next_delay(kCallbackBackoff, tries, Millis{0}, random);
}

CallbackFailure note_callback_failure(Context& context, const TaskInfo& task) {
  Counters::add(context.counters.callback_failures);
  std::string text = message_of(std::current_exception());
  const std::string who = task.id == TaskId{} ? "a call" : "task " + to_string(task.id);
  context.log(LogLevel::warning, who + " (" + task.handler + "): a callback threw: " + text);
  if (context.events.heard()) context.events.tell({EventKind::callback_failed, context.store_now(), task, text});
  return {std::move(text), asks_for_too_much(std::current_exception())};
}

}  // namespace easyretry::engine
