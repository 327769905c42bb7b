#pragma once
// One direct call, for every Persist strategy: runs it, judges it, describes it as a task, notifies listeners. Lives on
// the caller's stack.

#include <functional>
#include <optional>
#include <stdexcept>
#include <string>

#include <easyretry/error.h>
#include <easyretry/retryable.h>

#include "call/direct/failed_keys.h"
#include "engine/attempt.h"
#include "engine/core.h"

namespace easyretry::call {

class OneCall {
 public:
  OneCall(engine::Core& of_engine, const engine::KnownHandler& known, detail::DirectCall& call,
          const SubmitOptions& options)
      : core(of_engine),
        handler(known.handler),
        direct(call),
        known_(known),
        options_(options),
        begun_(of_engine.store_now()) {}

  bool has_own_key() const { return !options_.key.empty(); }
  Persist persist() const { return handler.options.persist.value_or(core.options().persist); }

  engine::Called run();
  // Inside a retry, of which it is a part: without filters and listeners, and no first attempt.
  engine::Called run_bare();
  // As run(), for a call that was already made and threw.
  engine::Called judge_thrown();

  static detail::DirectResult succeeded() { return {}; }
  // No retry follows: the caller gets what the function threw, or its value with the reason.
  static detail::DirectResult failed(std::string why) { return {AttemptState::failed, TaskId{}, std::move(why), true}; }
  detail::DirectResult stored(TaskId task, std::string why) const {
    return {AttemptState::stored, task, std::move(why), handler.options.rethrow};
  }

  // The call as a task whose first attempt has just failed.
  task::NewTask failed_task(const std::string& why, Millis delay) const;
  // Stores the call as a task that this instance runs at once. No run: a task with its key is live.
  engine::Started start() const;

  Millis next_delay(const engine::Called& called, Millis last) const;
  std::optional<std::string> stop_reason(Millis delay) const;

  void tell(EventKind kind, const std::string& message, std::optional<Outcome> outcome = std::nullopt) const;
  void log_final_failure(Outcome outcome, const std::string& message) const;
  std::string thrown_text() const;  // as in Settlement
  void tell_of_retry(const std::string& why, Millis delay, TaskId id) const;
  // The task as it would be stored, for callbacks.
  TaskInfo info() const;
  template <class F>
  std::optional<engine::CallbackFailure> callback_error(const F& callback) const {
    try {
      callback();
      return std::nullopt;
    } catch (...) {
      return core.note_callback_failure(info());
    }
  }

  // Runs `store`; if that throws, the function's own exception is nested in it: the caller sees both failures.
  template <class F>
  auto or_both_thrown(F store) const -> decltype(store()) {
    try {
      return store();
    } catch (const StoreError& e) {
      throw_both(e);
    } catch (const DuplicateTask& e) {
      throw_both(e);
    } catch (const std::invalid_argument& e) {
      throw_both(e);
    } catch (const JsonError& e) {
      throw_both(e);
    }
  }

  engine::Core& core;
  const detail::Handler& handler;
  detail::DirectCall& direct;
  int attempts = 0;

 private:
  engine::Execution execution(const engine::FilterChain& filters) const;
  void tell_circuit(const engine::Called& called) const;
  detail::Submission submission() const { return {direct.arguments(), options_}; }
  // Nullopt: they cannot be written as JSON, such as text that is not UTF-8.
  std::optional<std::string> written_arguments() const;

  template <class E>
  [[noreturn]] void throw_both(const E& caught) const {
    E outer = caught;
    if (!direct.thrown) throw outer;
    try {
      std::rethrow_exception(direct.thrown);
    } catch (...) {
      std::throw_with_nested(std::move(outer));
    }
  }

  const engine::KnownHandler& known_;
  const SubmitOptions& options_;
  const TimePoint begun_;
};

// The ways of a call, by Persist strategy. `called` is how its first run ended.
//
// retry_only, on_failure: a failure becomes a task, and a success ends the task that an earlier failure left.
detail::DirectResult stored_if_failed(OneCall& call, engine::Called called, FailedKeys& failed_keys);

// never: retried by this process, on the caller's thread or in the background. `wait` sleeps; false: the engine stops.
detail::DirectResult retried_in_memory(OneCall& call, engine::Called called, const std::function<bool(Millis)>& wait);

}  // namespace easyretry::call
