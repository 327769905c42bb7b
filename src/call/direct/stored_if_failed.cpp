#include <stdexcept>
#include <utility>

#include "call/direct/one_call.h"
#include "call/errors.h"
#include "engine/error_text.h"

namespace easyretry::call {
namespace {

using detail::DirectResult;
using engine::Called;
using task::Settlement;

// Stores the call as a task and settles it at once. False: a task with this key is live, so nothing is stored.
template <class Settle>
bool with_row(OneCall& call, Settle settle) {
  const auto started = call.or_both_thrown([&] { return call.start(); });
  if (!started.run) return false;
  Settlement settlement;
  settlement.ticket = started.run->ticket();
  settle(*started.run, settlement);
  settlement.error = engine::kept_error(settlement.error);
  if (settlement.outcome != Outcome::succeeded) settlement.thrown = call.thrown_text();
  call.core.settle_started(started.run, std::move(settlement));
  return true;
}

// on_failure: for listeners, statistics, history and the log. If a task with this key is live, only for the log.
void finish_at_once(OneCall& call, Outcome outcome, const std::string& message) {
  const bool stored = with_row(call, [&](const engine::Run&, Settlement& s) {
    s.kind = Settlement::Kind::finish;
    s.outcome = outcome;
    s.error = message;
  });
  if (!stored) call.log_final_failure(outcome, message);
}

// Throws if that is not possible.
void store_callback(OneCall& call, Stage stage, Outcome outcome, std::string message, std::string result) {
  const bool stored = with_row(call, [&](const engine::Run& run, Settlement& s) {
    s.kind = Settlement::Kind::advance;
    s.stage = stage;
    s.outcome = outcome;
    s.delay = engine::callback_delay(1, call.core.random());
    s.error = std::move(message);
    s.result = value_or_throw(call.core.payloads().seal_result(run.record, std::move(result)));
  });
  if (!stored) throw std::runtime_error("a task with the key " + call.info().key + " is live");
}

// The call is decided, but its callback failed: only that is left to the engine. If even that is not possible, the
// caller still gets its result.
void leave_callback(OneCall& call, Stage stage, Outcome outcome, const std::string& message, std::string result) {
  try {
    store_callback(call, stage, outcome, message, std::move(result));
  } catch (const std::exception& e) {
    call.core.note_callback_abandoned();
    call.core.log(LogLevel::error, "a callback of " + call.handler.name + " threw (" + message +
                                       ") and could not be stored to be called again: " + e.what());
    if (outcome != Outcome::succeeded) call.log_final_failure(outcome, message);
  }
}

// Ends the task of an earlier failure, which would otherwise run once more. The store is not asked on every call: only
// if the caller has named a key, or a call with this key has failed in this process.
void end_what_failed_before(OneCall& call, FailedKeys& failed_keys) {
  if (!call.has_own_key() && call.handler.gate->left_behind == 0) return;
  const std::string key = call.info().key;
  if (!failed_keys.forget(key) && !call.has_own_key()) return;
  if (const auto ended = call.core.end_as_done(call.handler.name, key); !ended) {
    call.core.log(LogLevel::warning, "a call of " + call.handler.name + " with the key " + key +
                                         " succeeded, but the task left by an earlier failure could not be ended, " +
                                         "and may run once more: " + to_string(ended.error()));
  }
}

DirectResult after_success(OneCall& call, std::string result) {
  if (!call.handler.on_success) return OneCall::succeeded();
  const auto thrown = call.callback_error([&] { call.handler.on_success(result, call.info()); });
  if (thrown && thrown->for_good) {
    call.core.note_callback_abandoned();
  } else if (thrown) {
    leave_callback(call, Stage::on_success, Outcome::succeeded, "on_success: " + thrown->message, std::move(result));
  }
  return OneCall::succeeded();
}

DirectResult after_final_failure(OneCall& call, const std::string& message) {
  if (call.handler.on_final_failure) {
    const auto thrown = call.callback_error([&] {
      call.handler.on_final_failure({Outcome::exhausted, message}, call.info());
    });
    if (thrown) {
      leave_callback(call, Stage::on_final_failure, Outcome::exhausted, message, {});
      return OneCall::failed(message);
    }
  }
  if (call.persist() == Persist::on_failure) {
    finish_at_once(call, Outcome::exhausted, message);
  } else {
    call.log_final_failure(Outcome::exhausted, message);
  }
  return OneCall::failed(message);
}

// A call that could not be stored is not retried.
TaskId store(OneCall& call, const std::string& why, Millis delay, FailedKeys& failed_keys) {
  return call.or_both_thrown([&] {
    const auto task = call.failed_task(why, delay);
    const TaskId id = value_or_throw(call.core.submit({&task, 1})).front().id;
    failed_keys.add(task.key, call.handler.gate);
    return id;
  });
}

DirectResult after_failure(OneCall& call, Called called, FailedKeys& failed_keys) {
  const Millis delay = call.next_delay(called, Millis{0});
  if (auto reason = call.stop_reason(delay)) return after_final_failure(call, called.message + " (" + *reason + ")");
  const TaskId id = store(call, called.message, delay, failed_keys);
  call.tell_of_retry(called.message, delay, id);
  return call.stored(id, std::move(called.message));
}

}  // namespace

DirectResult stored_if_failed(OneCall& call, Called called, FailedKeys& failed_keys) {
  switch (called.end) {
    case Called::End::success:
      end_what_failed_before(call, failed_keys);
      return after_success(call, std::move(called.result));
    case Called::End::failed: return after_failure(call, std::move(called), failed_keys);
    case Called::End::rejected:
    case Called::End::undecodable: break;
  }
  if (call.persist() == Persist::on_failure) finish_at_once(call, Outcome::rejected, called.message);
  return OneCall::failed(std::move(called.message));
}

}  // namespace easyretry::call
