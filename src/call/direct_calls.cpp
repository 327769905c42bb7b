#include "call/direct_calls.h"

#include <utility>

#include "call/errors.h"
#include "call/new_tasks.h"
#include "engine/attempt.h"
#include "engine/callbacks.h"
#include "engine/execution.h"
#include "engine/task_scope.h"
#include "policy/decide.h"
#include "task/transitions.h"

namespace easyretry::call {

using detail::DirectResult;
using engine::Called;
using task::Settlement;
using Kind = Settlement::Kind;

class DirectCalls::OneCall {
 public:
  OneCall(DirectCalls& calls, const engine::KnownHandler& known, detail::DirectCall& call, const SubmitOptions& options)
      : core_(calls.core_),
        wait_(calls.wait_),
        known_(known),
        handler_(known.handler),
        call_(call),
        options_(options),
        begun_(calls.core_.context().store_now()) {}

  DirectResult make() {
    if (detail::inside_retry()) return only_judged();
    switch (persist()) {
      case Persist::always: return leased();
      case Persist::manual: return judged(run());
      case Persist::never: return in_memory(run());
      case Persist::retry_only:
      case Persist::on_failure: return stored_if_failed(run());
    }
    return judged(run());
  }

  DirectResult made() {
    Called called = engine::judge_thrown(handler_.policy, call_.thrown, call_.what);
    attempts_ = 1;
    tell(EventKind::attempt_failed, called.message);
    return persist() == Persist::never ? in_memory(std::move(called)) : stored_if_failed(std::move(called));
  }

 private:
  engine::Context& context() const { return core_.context(); }
  Persist persist() const { return handler_.options.persist.value_or(context().options.persist); }

  Called run() {
    ++attempts_;
    const auto filters = context().filters.chain();
    Called called = execution(*filters).run();
    call_.thrown = called.thrown;  // a filter may have made another one of it
    if (called.end != Called::End::success) tell(EventKind::attempt_failed, called.message);
    return called;
  }

  engine::Execution execution(const engine::FilterChain& filters) {
    return {known_,
            filters,
            attempts_,
            nullptr,
            [this](bool want_result) { return call_.run(want_result); },
            [this] { return call_.arguments(); }};
  }

  static DirectResult succeeded() { return {}; }
  // Nobody goes on with it: the caller gets what the function threw, or its value with the reason.
  static DirectResult failed(std::string why) { return {AttemptState::failed, TaskId{}, std::move(why), true}; }
  DirectResult stored(TaskId task, std::string why) const {
    return {AttemptState::stored, task, std::move(why), handler_.options.rethrow};
  }

  // Inside a retry nothing is around the call, and nothing comes of it but what the caller sees.
  DirectResult only_judged() {
    const engine::FilterChain none;
    return judged(execution(none).run());
  }

  static DirectResult judged(Called called) {
    return called.end == Called::End::success ? succeeded() : failed(std::move(called.message));
  }

  // retry_only, on_failure

  DirectResult stored_if_failed(Called called) {
    attempts_ = 1;
    switch (called.end) {
      case Called::End::success: return after_success(std::move(called.result));
      case Called::End::failed: return after_failure(std::move(called));
      case Called::End::rejected:
      case Called::End::undecodable: break;
    }
    if (persist() == Persist::on_failure) finish_at_once(Outcome::rejected, called.message);
    return failed(std::move(called.message));
  }

  DirectResult after_success(std::string result) {
    if (!handler_.on_success) return succeeded();
    const auto thrown = callback_error([&] { handler_.on_success(result, info()); });
    if (thrown) leave_callback(Stage::on_success, Outcome::succeeded, "on_success: " + *thrown, std::move(result));
    return succeeded();
  }

  DirectResult after_failure(Called called) {
    const Millis delay = next_delay(called, Millis{0});
    if (auto reason = stop_reason(delay)) return after_final_failure(called.message + " (" + *reason + ")");
    const TaskId id = store(called.message, delay);
    tell_of_retry(called.message, delay, id);
    return stored(id, std::move(called.message));
  }

  DirectResult after_final_failure(const std::string& message) {
    if (handler_.on_final_failure) {
      const auto thrown = callback_error([&] { handler_.on_final_failure({Outcome::exhausted, message}, info()); });
      if (thrown) {
        leave_callback(Stage::on_final_failure, Outcome::exhausted, message, {});
        return failed(message);
      }
    }
    if (persist() == Persist::on_failure) finish_at_once(Outcome::exhausted, message);
    return failed(message);
  }

  // What could not be stored is not retried by anybody: the caller hears of both failures.
  TaskId store(const std::string& why, Millis delay) {
    return or_both_thrown([&] {
      const auto task = failed_task(why, delay);
      return value_or_throw(core_.submit({&task, 1})).front().id;
    });
  }

  // on_failure: seen by listeners, statistics and history, and gone.
  void finish_at_once(Outcome outcome, const std::string& message) {
    with_row([&](const engine::Run&, Settlement& s) {
      s.kind = Kind::finish;
      s.outcome = outcome;
      s.error = message;
    });
  }

  // The call is decided, its callback is not: that alone is left to the engine. If even that is not possible, the
  // caller gets what it is owed all the same.
  void leave_callback(Stage stage, Outcome outcome, const std::string& message, std::string result) {
    try {
      store_callback(stage, outcome, message, std::move(result));
    } catch (const std::exception& e) {
      engine::Counters::add(context().counters.callbacks_abandoned);
      context().log(LogLevel::error, "a callback of " + handler_.name + " threw (" + message +
                                         ") and could not be stored to be called again: " + e.what());
    }
  }

  void store_callback(Stage stage, Outcome outcome, std::string message, std::string result) {
    with_row([&](const engine::Run& run, Settlement& s) {
      s.kind = Kind::advance;
      s.stage = stage;
      s.outcome = outcome;
      s.delay = engine::callback_delay(context(), 1);
      s.error = std::move(message);
      s.result = value_or_throw(context().payloads.seal_result(run.record, std::move(result)));
    });
  }

  template <class Settle>
  void with_row(Settle settle) {
    const auto started = or_both_thrown([&] { return start(); });
    if (!started.run) return;  // a task with this key is live, and will come to the same
    Settlement settlement;
    settlement.ticket = started.run->ticket();
    settle(*started.run, settlement);
    settlement.error = engine::kept_error(std::move(settlement.error));
    core_.settle_started(started.run, std::move(settlement));
  }

  // always

  DirectResult leased() {
    const engine::Started started = start();
    if (!started.run) return stored(started.id, "a task with this key is live; it was not run again");
    started.run->direct = &call_;
    started.run->started = context().clock.steady();
    Settlement settlement = engine::attempt(*started.run, context());
    started.run->direct = nullptr;
    DirectResult result = result_of(settlement, started.id);
    core_.settle_started(started.run, std::move(settlement));
    return result;
  }

  DirectResult result_of(const Settlement& settlement, TaskId id) const {
    if (settlement.kind == Kind::retry || settlement.kind == Kind::hand_back) return stored(id, settlement.error);
    return settlement.outcome == Outcome::succeeded ? succeeded() : failed(settlement.error);
  }

  engine::Started start() {
    task::NewTask task = new_task(context(), known_, submission());
    task.owner = context().owner;
    task.lease = context().options.lease;
    task.due_at.reset();
    return value_or_throw(core_.start(task));
  }

  // never

  DirectResult in_memory(Called called) {
    attempts_ = 1;
    for (Millis last{0};;) {
      if (called.end == Called::End::success) return succeeded_in_memory(called.result);
      if (called.end != Called::End::failed) return failed(std::move(called.message));
      const Millis delay = next_delay(called, last);
      if (auto reason = stop_reason(delay)) return failed_in_memory(called.message + " (" + *reason + ")");
      tell(EventKind::retry_scheduled, called.message);
      tell_of_retry(called.message, delay, TaskId{});
      if (!handler_.options.wait) return in_background(std::move(called.message), delay);
      if (!wait_(delay)) return failed(called.message + " (the engine stopped)");
      last = delay;
      const engine::RetryScope retrying;
      called = run();
    }
  }

  DirectResult succeeded_in_memory(const std::string& result) {
    if (attempts_ > 1) tell(EventKind::succeeded, {});
    if (handler_.on_success) callback_error([&] { handler_.on_success(result, info()); });
    return succeeded();
  }

  DirectResult failed_in_memory(const std::string& message) {
    tell(EventKind::gave_up, message);
    if (handler_.on_final_failure) {
      callback_error([&] { handler_.on_final_failure({Outcome::exhausted, message}, info()); });
    }
    return failed(message);
  }

  DirectResult in_background(std::string why, Millis delay) {
    const auto id = or_both_thrown([&] { return core_.local->add(failed_task(why, delay)); });
    if (!id) return failed_in_memory(why + " (too many retries wait in memory)");
    return {AttemptState::retrying, *id, std::move(why), handler_.options.rethrow};
  }

  // all

  detail::Submission submission() const { return {call_.arguments(), options_}; }

  // The call as a task whose first attempt has failed just now.
  task::NewTask failed_task(const std::string& why, Millis delay) const {
    detail::Submission failed = submission();
    failed.options.due_at.reset();
    failed.delay = delay;
    failed.attempts = 1;
    failed.error = why;
    return new_task(context(), known_, std::move(failed));
  }

  Millis next_delay(const Called& called, Millis last) const {
    if (called.delay) return *called.delay;
    return policy::next_delay(handler_.policy.backoff, attempts_, last, context().random.unit());
  }

  std::optional<std::string> stop_reason(Millis delay) const {
    Stop stop = handler_.policy.stop;
    if (options_.deadline) stop.deadline = options_.deadline;
    return policy::stop_reason(stop, attempts_, begun_, context().store_now() + delay);
  }

  void tell(EventKind kind, const std::string& message) const {
    if (context().events.heard()) context().events.tell({kind, context().store_now(), info(), message});
  }

  // The task as it would be stored, for callbacks of one that is not.
  TaskInfo info() const {
    TaskInfo info = describe(context(), known_, options_, call_.arguments());
    info.created_at = begun_;
    info.next_at = begun_;
    info.attempts = attempts_;
    return info;
  }

  void tell_of_retry(const std::string& why, Millis delay, TaskId id) const {
    if (!handler_.on_retry_scheduled) return;
    callback_error([&] {
      TaskInfo next = info();
      next.id = id;
      next.next_at = context().store_now() + delay;
      handler_.on_retry_scheduled(why, next);
    });
  }

  template <class F>
  std::optional<std::string> callback_error(const F& callback) const {
    return engine::callback_error(context(), callback, [this] { return info(); });
  }

  // Runs `store`; if that throws, what the function threw is nested in it.
  template <class F>
  auto or_both_thrown(F store) -> decltype(store()) {
    try {
      return store();
    } catch (const StoreError& e) {
      throw_both(e);
    } catch (const DuplicateTask& e) {
      throw_both(e);
    } catch (const std::invalid_argument& e) {
      throw_both(e);
    }
  }

  template <class E>
  [[noreturn]] void throw_both(const E& caught) {
    E outer = caught;
    if (!call_.thrown) throw outer;
    try {
      std::rethrow_exception(call_.thrown);
    } catch (...) {
      std::throw_with_nested(std::move(outer));
    }
  }

  engine::Core& core_;
  const std::function<bool(Millis)>& wait_;
  const engine::KnownHandler& known_;
  const detail::Handler& handler_;
  detail::DirectCall& call_;
  const SubmitOptions& options_;
  const TimePoint begun_;
  int attempts_ = 0;
};

DirectResult DirectCalls::make(const engine::KnownHandler& handler, detail::DirectCall& call,
                               const SubmitOptions& options) {
  return OneCall{*this, handler, call, options}.make();
}

DirectResult DirectCalls::made(const engine::KnownHandler& handler, detail::DirectCall& call,
                               const SubmitOptions& options) {
  return OneCall{*this, handler, call, options}.made();
}

}  // namespace easyretry::call
