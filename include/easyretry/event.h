#pragma once
// Events of tasks, instances and tables, as they happen on this instance: engine.on_event([](const Event& e) { … }).
// Spans of tasks, for traces: engine.on_span([](const Span& span) { … }).

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <easyretry/task.h>

#pragma GCC visibility push(default)
namespace easyretry {

enum class EventKind {
  stored,
  claimed,         // by a worker; an execution follows
  attempt_failed,  // `message` has the reason; the following event says what happens next
  retry_scheduled,
  succeeded,
  gave_up,  // exhausted or rejected: event.task.outcome
  cancelled,
  quarantined,
  parked,
  handed_back,      // not run here after all; does not count as an attempt
  lease_lost,       // another instance may run it; the result of the handler on this instance is ignored
  callback_failed,  // on_success, on_final_failure or on_retry_scheduled threw

  // Membership: `message` names the instance; there is no task
  member_joined,
  member_left,
  member_refused,  // a listed instance that does not share our shards: another application, or another number of shards
  shards_changed,  // this instance owns different shards than before

  // Circuits: `message` names the circuit; there is no task
  circuit_opened,  // attempts mostly fail: tasks of its handlers are held back
  circuit_closed,

  // Store maintenance by this instance: event.table is set; there is no task
  table_made,       // created ahead of time
  table_emptied,    // before it is dropped: `message` has the number of unfinished tasks moved to another table
  table_dropped,    // an empty table
  history_dropped,  // an expired month of history
};

std::string_view to_string(EventKind kind);

struct Event {
  EventKind kind = EventKind::stored;
  TimePoint at{};   // by the store's clock
  TaskInfo task{};  // as of the start of the step, but next_at, outcome and last_error as of its end
  std::string message{};
  std::string table{};
};

// May throw: exceptions are counted (Stats::listener_failures) and otherwise ignored.
using EventListener = std::function<void(const Event&)>;

enum class Delivery {
  direct,  // on the thread that raises the event: gets every event; a slow listener delays the engine
  queued,  // on a separate thread, in order; while 10,000 are waiting, further ones are dropped and counted
};

// A part of a trace, as OpenTelemetry describes it: a submit, an attempt, or the call of a webhook (docs/tracing.md).
struct Span {
  enum class Kind { internal, producer, consumer, client };
  using Value = std::variant<std::string, std::int64_t>;

  std::string traceparent{};  // its own: 00-<trace id>-<span id>-01
  std::string parent{};       // the span id of its parent; empty: it is the first one of its trace
  std::string name{};         // "attempt mail.send"
  Kind kind = Kind::internal;
  TimePoint began_at{};  // by the store's clock
  std::chrono::nanoseconds took{0};
  std::vector<std::pair<std::string, Value>> attributes{};
  std::vector<std::string> links{};  // traceparents of related spans: of a retry, the attempt before it
  bool failed = false;
  std::string error{};  // of a failed one: the kind of its error, without ids, numbers and quoted texts
};

// Called on the thread that ends the span: must not block. Exceptions are treated like those of an EventListener.
using SpanListener = std::function<void(const Span&)>;

}  // namespace easyretry
#pragma GCC visibility pop
