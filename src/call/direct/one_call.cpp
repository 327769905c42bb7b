#include "call/direct/one_call.h"

#include <utility>

#include "call/errors.h"
#include "call/new_tasks.h"
#include "engine/attempt.h"
#include "engine/error_text.h"
#include "policy/decide.h"

namespace easyretry::call {

using engine::Called;

Called OneCall::run() {
  ++attempts;
  const auto filters = core.filters();
  Called called = execution(*filters).run();
  direct.thrown = called.thrown;  // a filter may have replaced it
  tell_circuit(called);
  if (called.end != Called::End::success) tell(EventKind::attempt_failed, called.message);
  return called;
}

Called OneCall::run_bare() {
  const engine::FilterChain none;
  Called called = execution(none).run();
  engine::tell_circuit(known_, called, core.clock().steady());
  return called;
}

Called OneCall::judge_thrown() {
  attempts = 1;
  Called called = engine::judge_thrown(handler.policy, direct.thrown, direct.what);
  tell_circuit(called);
  tell(EventKind::attempt_failed, called.message);
  return called;
}

void OneCall::tell_circuit(const Called& called) const {
  const Instant now = core.clock().steady();
  engine::tell_circuit(known_, called, now);
  if (attempts == 1) known_.count_first_attempt(now);
}

engine::Execution OneCall::execution(const engine::FilterChain& filters) const {
  return {known_,
          filters,
          attempts,
          nullptr,
          [this](bool want_result) { return direct.run(want_result); },
          [this] { return direct.arguments(); }};
}

task::NewTask OneCall::failed_task(const std::string& why, Millis delay) const {
  detail::Submission failed = submission();
  failed.options.due_at.reset();
  failed.delay = delay;
  failed.attempts = 1;
  failed.error = why;
  return new_task(core, known_, std::move(failed));
}

engine::Started OneCall::start() const {
  task::NewTask task = new_task(core, known_, submission());
  task.owner = core.owner();
  task.lease = core.options().lease;
  task.due_at.reset();
  return value_or_throw(core.start(task));
}

Millis OneCall::next_delay(const Called& called, Millis last) const {
  if (called.delay) return *called.delay;
  return policy::next_delay(known_.backoff, attempts, last, core.random());
}

std::optional<std::string> OneCall::stop_reason(Millis delay) const {
  const task::RetryRules& rules = known_.rules;
  const Stop stop{rules.max_attempts, rules.max_duration, options_.deadline ? options_.deadline : rules.deadline};
  return policy::stop_reason(stop, attempts, begun_, core.store_now() + delay);
}

void OneCall::tell(EventKind kind, const std::string& message, std::optional<Outcome> outcome) const {
  if (!core.events().heard()) return;
  Event event{kind, core.store_now(), info(), message};
  event.task.outcome = outcome;
  core.events().tell(event);
}

std::string OneCall::thrown_text() const {
  return engine::thrown_text(direct.thrown, core.options());
}

void OneCall::log_final_failure(Outcome outcome, const std::string& message) const {
  if (core.options().log) core.log_final_failure(info(), outcome, engine::kept_error(message), thrown_text());
}

void OneCall::tell_of_retry(const std::string& why, Millis delay, TaskId id) const {
  if (!handler.on_retry_scheduled) return;
  callback_error([&] {
    TaskInfo next = info();
    next.id = id;
    next.next_at = core.store_now() + delay;
    handler.on_retry_scheduled(why, next);
  });
}

std::optional<std::string> OneCall::written_arguments() const {
  try {
    return direct.arguments();
  } catch (const JsonError&) {
    return std::nullopt;
  }
}

TaskInfo OneCall::info() const {
  TaskInfo info = describe(core, known_, options_, written_arguments());
  info.created_at = begun_;
  info.next_at = begun_;
  info.attempts = attempts;
  return info;
}

}  // namespace easyretry::call
