#include "task/transitions.h"

#include <algorithm>
#include <array>

#include "base/later.h"
#include "task/attempt_log.h"

namespace easyretry::task {
namespace {

using enum TaskState;

// The guards that keep a task from being lost, run twice, or blamed for another task's crash. They are always on in the
// product; tests/sim builds the simulator with one of them off at a time to show that it notices.
namespace guards {

#ifdef EASYRETRY_WITHOUT_CAS_ON_VERSION
constexpr bool cas_on_version = false;
#else
constexpr bool cas_on_version = true;
#endif

#ifdef EASYRETRY_WITHOUT_LEASE_CHECK
constexpr bool lease_check_on_claim = false;
#else
constexpr bool lease_check_on_claim = true;
#endif

#ifdef EASYRETRY_WITHOUT_ATTEMPT_BEFORE_RUN
constexpr bool attempt_counted_before_run = false;
#else
constexpr bool attempt_counted_before_run = true;
#endif

#ifdef EASYRETRY_WITHOUT_FENCE_ON_SETTLE
constexpr bool fence_on_settle = false;
#else
constexpr bool fence_on_settle = true;
#endif

#ifdef EASYRETRY_WITHOUT_PROOF_OF_CRASHES
constexpr bool only_proven_crashes = false;
#else
constexpr bool only_proven_crashes = true;
#endif

}  // namespace guards

constexpr int kCounted = guards::attempt_counted_before_run ? 1 : 0;

// from, event, to, attempts, crashes, new version
constexpr std::array kTable{
    Transition{pending, Event::claim, running, kCounted, 0, true},
    Transition{running, Event::claim_expired, running, 0, kCounted, true},
    Transition{running, Event::claim_suspect, running, 0, 0, true},
    Transition{running, Event::renew, running, 0, 0, false},
    Transition{running, Event::retry, pending, 0, 0, true},
    Transition{running, Event::advance, pending, 0, 0, true},
    Transition{running, Event::hand_back, pending, -kCounted, 0, true},
    Transition{running, Event::finish, finished, 0, 0, true},
    Transition{pending, Event::revise, pending, 0, 0, true},
    Transition{pending, Event::end, finished, 0, 0, true},
    Transition{running, Event::end, finished, 0, 0, true},
    Transition{pending, Event::end_and_tell, pending, 0, 0, true},
    Transition{running, Event::end_and_tell, pending, 0, 0, true},
    Transition{finished, Event::requeue, pending, 0, 0, true},
};

void move(TaskRecord& record, Event event) {
  const auto step = transition(record.info.state, event).value();
  int& attempts = record.info.stage == Stage::run ? record.info.attempts : record.callback_attempts;
  record.info.state = step.to;
  attempts += step.attempts;
  record.info.crashes += step.crashes;
  if (step.new_version) ++record.info.version;
}

void release(TaskRecord& record) {
  record.locked_by.clear();
  record.lease_until = TimePoint{};
  record.began = false;
}

void note_failure(TaskRecord& record, const std::string& error, TimePoint now) {
  if (error.empty()) return;
  if (!record.info.first_failed_at) record.info.first_failed_at = now;
  record.info.last_failed_at = now;
  record.info.last_error = error;
}

void add_attempt(TaskInfo& info, PastAttempt attempt) {
  info.last_attempts.insert(info.last_attempts.begin(), std::move(attempt));
  if (info.last_attempts.size() > kLastAttempts) info.last_attempts.pop_back();
}

Event event_of(Settlement::Kind kind) {
  switch (kind) {
    case Settlement::Kind::finish: return Event::finish;
    case Settlement::Kind::retry: return Event::retry;
    case Settlement::Kind::advance: return Event::advance;
    case Settlement::Kind::hand_back: return Event::hand_back;
  }
  return Event::finish;
}

}  // namespace

std::string_view to_string(Event event) {
  switch (event) {
    case Event::claim: return "claim";
    case Event::claim_expired: return "claim_expired";
    case Event::claim_suspect: return "claim_suspect";
    case Event::renew: return "renew";
    case Event::retry: return "retry";
    case Event::advance: return "advance";
    case Event::hand_back: return "hand_back";
    case Event::finish: return "finish";
    case Event::revise: return "revise";
    case Event::end: return "end";
    case Event::end_and_tell: return "end_and_tell";
    case Event::requeue: return "requeue";
  }
  return "unknown";
}

std::span<const Transition> transitions() {
  return kTable;
}

std::optional<Transition> transition(TaskState from, Event event) {
  const auto* found = std::find_if(kTable.begin(), kTable.end(),
                                   [&](const Transition& t) { return t.from == from && t.event == event; });
  if (found == kTable.end()) return std::nullopt;
  return *found;
}

std::optional<Event> claim_event(const TaskRecord& record, const Ticket& ticket, TimePoint now) {
  if (guards::cas_on_version && record.info.version != ticket.version) return std::nullopt;
  if (record.info.next_at > now) return std::nullopt;
  if (record.info.state == TaskState::pending) return Event::claim;
  if (guards::lease_check_on_claim && record.lease_until > now) return std::nullopt;
  return record.began || !guards::only_proven_crashes ? Event::claim_expired : Event::claim_suspect;
}

int suspicion(const TaskRecord& record) {
  const bool held = record.info.state == TaskState::running;
  const int crashes = record.info.crashes + (held && record.began ? 1 : 0);
  return held || crashes > 0 ? crashes + 1 : 0;
}

bool is_retried(const TaskRecord& record) {
  return record.info.stage == Stage::run && record.info.attempts > 0;
}

std::optional<Event> end_event(const TaskRecord& record, const Ending& ending) {
  const bool agrees = ending.drop_callback && record.info.outcome == ending.outcome;
  const bool overrules = !ending.tell && (ending.outcome == Outcome::cancelled || agrees);
  if (record.info.stage != Stage::run && !overrules) return std::nullopt;
  return ending.tell ? Event::end_and_tell : Event::end;
}

bool holds(const TaskRecord& record, const Ticket& ticket) {
  if (guards::fence_on_settle && record.info.version != ticket.version) return false;
  return record.info.state == TaskState::running;
}

bool may_revise(const TaskRecord& record, const Ticket& ticket) {
  if (guards::cas_on_version && record.info.version != ticket.version) return false;
  return record.info.state == TaskState::pending;
}

void apply_claim(TaskRecord& record, Event event, std::string_view owner, TimePoint now, Millis lease, bool begin) {
  // A callback is no attempt.
  if (event != Event::claim && record.info.stage == Stage::run) add_attempt(record.info, lost_attempt(record));
  move(record, event);
  ++record.info.deliveries;
  record.locked_by = owner;
  record.lease_until = base::later(now, lease);
  record.began = begin;
}

void apply_renewal(TaskRecord& record, TimePoint now, Millis lease, const std::optional<std::string>& progress) {
  record.lease_until = base::later(now, lease);
  if (progress) record.info.progress = *progress;
}

void apply_update(TaskRecord& record, const NewTask& task) {
  record.rules = task.rules;
}

void apply_revision(TaskRecord& record, const Revision& revision, TimePoint now) {
  move(record, Event::revise);
  if (revision.delay) record.info.next_at = base::later(now, *revision.delay);
  if (revision.rules) record.rules = *revision.rules;
}

void apply_settlement(TaskRecord& record, const Settlement& settlement, TimePoint now) {
  move(record, event_of(settlement.kind));
  release(record);
  note_failure(record, settlement.error, now);
  for (PastAttempt& attempt : parse_attempts(settlement.attempt)) add_attempt(record.info, std::move(attempt));
  switch (settlement.kind) {
    case Settlement::Kind::finish:
      record.info.outcome = settlement.outcome;
      record.info.finished_at = now;
      record.result.clear();
      break;
    case Settlement::Kind::retry: record.info.next_at = base::later(now, settlement.delay); break;
    case Settlement::Kind::advance:
      record.info.stage = settlement.stage;
      record.info.outcome = settlement.outcome;
      record.result = settlement.result;
      record.info.next_at = base::later(now, settlement.delay);
      break;
    case Settlement::Kind::hand_back:
      if (settlement.delay > Millis{0}) {
        record.info.next_at = std::max(record.info.next_at, base::later(now, settlement.delay));
      }
      break;
  }
}

void apply_end(TaskRecord& record, Event event, const Ending& ending, TimePoint now) {
  move(record, event);
  release(record);
  note_failure(record, ending.error, now);
  record.info.outcome = ending.outcome;
  if (event == Event::end) {
    record.info.finished_at = now;
    record.result.clear();
  } else {
    record.info.stage = callback_of(ending.outcome);
    record.result = ending.result;
    record.info.next_at = now;
  }
}

TaskRecord new_record(const NewTask& task, TaskId id, TimePoint now) {
  TaskRecord record;
  record.info.id = id;
  record.info.name_space = task.name_space;
  record.info.key = task.key;
  record.info.handler = task.handler;
  record.info.business_type = task.business_type;
  record.info.business_id = task.business_id;
  record.info.version = 1;
  record.info.created_at = now;
  record.info.next_at = task.due_at.value_or(base::later(now, task.delay));
  record.info.tags = task.tags;
  record.info.traceparent = task.traceparent;
  record.info.task_class = task.task_class;
  record.info.attempts = record.info.deliveries = task.attempts;
  if (!task.error.empty()) {
    record.info.first_failed_at = record.info.last_failed_at = now;
    record.info.last_error = task.error;
  }
  record.payload = task.payload;
  record.payload_version = task.payload_version;
  record.rules = task.rules;
  if (task.lease > Millis{0}) {
    record.info.state = TaskState::running;
    record.info.attempts = record.info.deliveries = task.attempts + 1;
    record.locked_by = task.owner;
    record.lease_until = base::later(now, task.lease);
    record.began = true;
  }
  return record;
}

TaskRecord next_generation(const TaskRecord& finished, TaskId id, TimePoint now) {
  TaskRecord record = finished;
  TaskInfo& info = record.info;
  info.id = id;
  info.state = TaskState::pending;
  info.stage = Stage::run;
  info.outcome.reset();
  info.attempts = info.crashes = info.deliveries = 0;
  ++info.generation;
  info.version = 1;
  info.created_at = info.next_at = now;
  info.finished_at.reset();
  info.requeued_as.reset();
  info.last_attempts.clear();
  record.callback_attempts = 0;
  record.result.clear();
  if (record.rules.deadline && *record.rules.deadline <= now) record.rules.deadline.reset();
  release(record);
  return record;
}

}  // namespace easyretry::task
