#pragma once
// What every Persist strategy needs to know and do about the call that is being made: run it, judge it, describe it as
// a task, tell whoever listens. Lives on the caller's stack.

#include <functional>
#include <optional>
#include <stdexcept>
#include <string>

#include <easyretry/error.h>
#include <easyretry/retryable.h>

#include "engine/callbacks.h"
#include "engine/core.h"
#include "engine/execution.h"

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
        begun_(of_engine.context().store_now()) {}

  engine::Context& context() const { return core.context(); }
  bool has_own_key() const { return !options_.key.empty(); }
  Persist persist() const { return handler.options.persist.value_or(context().options.persist); }

  engine::Called run();
  // Without filters, and nobody is told.
  engine::Called run_bare();
  // The same where it has been run already, and has thrown.
  engine::Called judge_thrown();

  static detail::DirectResult succeeded() { return {}; }
  // Nobody goes on with it: the caller gets what the function threw, or its value with the reason.
  static detail::DirectResult failed(std::string why) { return {AttemptState::failed, TaskId{}, std::move(why), true}; }
  detail::DirectResult stored(TaskId task, std::string why) const {
    return {AttemptState::stored, task, std::move(why), handler.options.rethrow};
  }

  // The call as a task whose first attempt has failed just now.
  task::NewTask failed_task(const std::string& why, Millis delay) const;
  // Stores the call as a task that this instance runs right now. No run: one with its key is live.
  engine::Started start() const;

  Millis next_delay(const engine::Called& called, Millis last) const;
  std::optional<std::string> stop_reason(Millis delay) const;

  void tell(EventKind kind, const std::string& message, std::optional<Outcome> outcome = std::nullopt) const;
  void tell_of_retry(const std::string& why, Millis delay, TaskId id) const;
  // The task as it would be stored, for callbacks of one that is not.
  TaskInfo info() const;
  template <class F>
  auto callback_error(const F& callback) const {
    return engine::callback_error(context(), callback, [this] { return info(); });
  }

  // Runs `store`; if that throws, what the function threw is nested in it: the caller hears of both failures.
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
  detail::Submission submission() const { return {direct.arguments(), options_}; }
  // Nullopt: they hold what JSON cannot, such as text that is not UTF-8.
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

}  // namespace easyretry::call
