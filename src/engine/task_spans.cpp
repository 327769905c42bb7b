#include "engine/task_spans.h"

#include "base/traceparent.h"
#include "base/utf8.h"
#include "task/error_kind.h"
#include "task/transitions.h"

namespace easyretry::engine {
namespace {

using Kind = task::Settlement::Kind;

constexpr std::size_t kLongestError = 200;
constexpr int kFirstFailedStatus = 400;

Span span_of(const Context& context, const TaskInfo& task, Instant began) {
  const Instant now = context.clock.steady();
  if (began > now) began = now;  // not measured
  Span span;
  span.began_at = context.store_time.at(began);
  span.took = now - began;
  span.attributes = {{"messaging.system", "easyretry"},
                     {"messaging.destination.name", task.handler},
                     {"easyretry.namespace", task.name_space},
                     {"easyretry.task.id", to_string(task.id)},
                     {"easyretry.handler", task.handler}};
  return span;
}

// The message may quote arguments; its kind has no ids, numbers and quoted texts.
void mark_failed(Span& span, std::string_view error) {
  const std::string kind = task::kind_of(error);
  span.failed = true;
  span.error = base::cut_utf8(kind, kLongestError);
  span.attributes.emplace_back("error.type", task::fingerprint_of(kind));
}

std::string outcome_of(const task::Settlement& settlement) {
  switch (settlement.kind) {
    case Kind::retry: return "retry";
    case Kind::hand_back: return "handed back";
    case Kind::advance:
    case Kind::finish: return std::string{to_string(settlement.outcome)};
  }
  return "unknown";
}

bool counts(const Run& run, const task::Settlement& settlement) {
  return settlement.kind != Kind::hand_back && run.interrupt != Interrupt::lease_lost;
}

// Attempts that were made before the task was stored have no span: those of a direct call that failed, and those that
// a submission names. Their failure, if any, happened when the task was stored.
bool earlier_attempt_was_told(const TaskInfo& task) {
  if (task.attempts <= 1 || !task.last_failed_at) return false;
  if (*task.last_failed_at != task.created_at) return true;
  // Within the millisecond in which the task was stored. An attempt of ours has cost a claim and a settlement.
  return task.version >= 2 * task.attempts - 1;
}

void tell_stored(const Context& context, const TaskInfo& task, Span span) {
  const TaskTrace trace = context.spans.trace_of(task);
  if (!trace.sampled()) return;
  span.traceparent = trace.traceparent(trace.submit());
  if (const auto given = base::read_traceparent(task.traceparent)) span.parent = given->span;
  span.kind = Span::Kind::producer;
  span.attributes.emplace_back("messaging.operation.type", "send");
  context.spans.tell(span);
}

}  // namespace

void tell_submit(const Context& context, const task::NewTask& task, TaskId id, Instant began) {
  const TaskInfo info = task::new_record(task, id, context.store_now()).info;
  Span span = span_of(context, info, began);
  span.name = "submit " + info.handler;
  tell_stored(context, info, std::move(span));
}

void tell_requeue(const Context& context, const TaskInfo& ended, TaskId id) {
  TaskInfo info = ended;
  info.id = id;
  Span span = span_of(context, info, context.clock.steady());
  span.name = "requeue " + info.handler;
  const TaskTrace before = context.spans.trace_of(ended);
  if (ended.attempts > 0) span.links.push_back(before.traceparent(before.attempt(ended.attempts)));
  tell_stored(context, info, std::move(span));
}

void tell_attempt(const Run& run, const Context& context, const task::Settlement& settlement) {
  const TaskInfo& info = run.record.info;
  const TaskTrace trace = context.spans.trace_of(info);
  if (!trace.sampled()) return;
  Span span = span_of(context, info, run.started);
  span.name = "attempt " + info.handler;
  span.kind = Span::Kind::consumer;
  span.traceparent =
      trace.traceparent(counts(run, settlement) ? trace.attempt(info.attempts) : trace.uncounted(info.version));
  span.parent = trace.submit();
  if (earlier_attempt_was_told(info)) span.links.push_back(trace.traceparent(trace.attempt(info.attempts - 1)));
  const bool succeeded = settlement.kind != Kind::retry && settlement.outcome == Outcome::succeeded;
  if (!succeeded && settlement.kind != Kind::hand_back) mark_failed(span, settlement.error);
  span.attributes.emplace_back("messaging.operation.type", "process");
  span.attributes.emplace_back("easyretry.attempt", info.attempts);
  span.attributes.emplace_back("easyretry.instance", run.record.locked_by);
  span.attributes.emplace_back("easyretry.outcome", outcome_of(settlement));
  if (settlement.kind == Kind::retry) span.attributes.emplace_back("easyretry.retry_in_ms", settlement.delay.count());
  context.spans.tell(span);
}

std::string traceparent_of_webhook(const Context& context, const TaskInfo& task) {
  if (!context.spans.heard()) return task.traceparent;
  const TaskTrace trace = context.spans.trace_of(task);
  return trace.traceparent(trace.webhook(task.attempts));
}

void tell_webhook(const Run& run, const Context& context, const WebhookCalled& called) {
  const TaskInfo& info = run.record.info;
  const TaskTrace trace = context.spans.trace_of(info);
  if (!trace.sampled()) return;
  Span span = span_of(context, info, run.started);
  span.name = "webhook " + info.handler;
  span.kind = Span::Kind::client;
  span.traceparent = trace.traceparent(trace.webhook(info.attempts));
  span.parent = trace.attempt(info.attempts);
  span.attributes.emplace_back("http.request.method", "POST");
  span.attributes.emplace_back("server.address", called.server);
  if (called.status) span.attributes.emplace_back("http.response.status_code", *called.status);
  span.failed = !called.status || *called.status >= kFirstFailedStatus;
  if (span.failed) {
    span.error = called.status ? "HTTP " + std::to_string(*called.status) : "no response";
    span.attributes.emplace_back("error.type", called.status ? std::to_string(*called.status) : span.error);
  }
  context.spans.tell(span);
}

}  // namespace easyretry::engine
