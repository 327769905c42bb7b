#include <utility>

#include "call/direct/one_call.h"
#include "engine/task_scope.h"

namespace easyretry::call {
namespace {

using detail::DirectResult;
using engine::Called;

DirectResult succeeded(OneCall& call, const std::string& result) {
  if (call.attempts > 1) call.tell(EventKind::succeeded, {}, Outcome::succeeded);
  if (call.handler.on_success) call.callback_error([&] { call.handler.on_success(result, call.info()); });
  return OneCall::succeeded();
}

DirectResult gave_up(OneCall& call, const std::string& message, Outcome outcome = Outcome::exhausted) {
  call.tell(EventKind::gave_up, message, outcome);
  call.log_final_failure(outcome, message);
  if (call.handler.on_final_failure) {
    call.callback_error([&] { call.handler.on_final_failure({outcome, message}, call.info()); });
  }
  return OneCall::failed(message);
}

void tell_of_retry(OneCall& call, const std::string& why, Millis delay, TaskId id) {
  call.tell(EventKind::retry_scheduled, why);
  call.tell_of_retry(why, delay, id);
}

// Of a first failure only the caller hears; a failure after retries ends something that listeners have heard of.
DirectResult rejected(OneCall& call, const std::string& message) {
  return call.attempts > 1 ? gave_up(call, message, Outcome::rejected) : OneCall::failed(message);
}

// Listeners are notified before it can run, so that they do not hear of the retry's result first.
DirectResult in_background(OneCall& call, std::string why, Millis delay) {
  const auto task = call.or_both_thrown([&] { return call.failed_task(why, delay); });
  const auto place = call.core.local_retries().reserve();
  if (!place) return gave_up(call, why + " (" + place.error() + ")");
  tell_of_retry(call, why, delay, *place);
  call.core.local_retries().add(*place, task);
  return {AttemptState::retrying, *place, std::move(why), call.handler.options.rethrow};
}

}  // namespace

DirectResult retried_in_memory(OneCall& call, Called called, const std::function<bool(Millis)>& wait) {
  for (Millis last{0};;) {
    if (called.end == Called::End::success) return succeeded(call, called.result);
    if (called.end != Called::End::failed) return rejected(call, called.message);
    const Millis delay = call.next_delay(called, last);
    if (auto reason = call.stop_reason(delay)) return gave_up(call, called.message + " (" + *reason + ")");
    if (!call.handler.options.wait) return in_background(call, std::move(called.message), delay);
    tell_of_retry(call, called.message, delay, TaskId{});
    if (!wait(delay)) return OneCall::failed(called.message + " (the engine stopped)");
    last = delay;
    const engine::RetryScope retrying;
    called = call.run();
  }
}

}  // namespace easyretry::call
