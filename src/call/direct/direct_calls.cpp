#include "call/direct/direct_calls.h"

#include <utility>

#include "call/direct/strategies.h"
#include "engine/task_scope.h"

namespace easyretry::call {

using detail::DirectResult;
using engine::Called;

namespace {

DirectResult judged(Called called) {
  return called.end == Called::End::success ? OneCall::succeeded() : OneCall::failed(std::move(called.message));
}

}  // namespace

DirectResult DirectCalls::make(const engine::KnownHandler& handler, detail::DirectCall& direct,
                               const SubmitOptions& options) {
  OneCall call{core_, handler, direct, options};
  // Inside a retry nothing is around the call, and nothing comes of it but what the caller sees.
  if (detail::inside_retry()) return judged(call.run_bare());
  switch (call.persist()) {
    case Persist::always: keep_leases_(); return leased(call);
    case Persist::manual: return judged(call.run());
    case Persist::never: return retried_in_memory(call, call.run(), wait_);
    case Persist::retry_only:
    case Persist::on_failure: return stored_if_failed(call, call.run(), failed_keys_);
  }
  return judged(call.run());
}

DirectResult DirectCalls::made(const engine::KnownHandler& handler, detail::DirectCall& direct,
                               const SubmitOptions& options) {
  OneCall call{core_, handler, direct, options};
  Called called = call.judge_thrown();
  if (call.persist() == Persist::never) return retried_in_memory(call, std::move(called), wait_);
  return stored_if_failed(call, std::move(called), failed_keys_);
}

}  // namespace easyretry::call
