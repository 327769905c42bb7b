#include "call/direct/direct_calls.h"

#include <utility>

#include <easyretry/attempt.h>

#include "call/direct/one_call.h"
#include "engine/task_scope.h"

namespace easyretry {

std::string_view to_string(AttemptState state) {
  switch (state) {
    case AttemptState::succeeded: return "succeeded";
    case AttemptState::stored: return "stored";
    case AttemptState::retrying: return "retrying";
    case AttemptState::failed: return "failed";
  }
  return "unknown";
}

namespace detail {

AttemptBase::AttemptBase(AttemptState state, TaskId task, FirstFailure why)
    : state_(state), task_(task), why_(std::make_shared<const FirstFailure>(std::move(why))) {}

const std::string& AttemptBase::error() const {
  static const std::string none;
  return why_ ? why_->message : none;
}

void AttemptBase::no_value() const {
  std::string text = "easyretry: this call has no value yet";
  if (state_ == AttemptState::stored) text += "; it failed and was stored as task " + to_string(task_);
  if (state_ == AttemptState::retrying) text += "; it failed and is retried in memory";
  if (why_) text += ": " + why_->message;
  throw NoValueYet(text);
}

}  // namespace detail
}  // namespace easyretry

namespace easyretry::call {

using detail::DirectResult;
using engine::Called;
using task::Settlement;

namespace {

DirectResult judged(Called called) {
  return called.end == Called::End::success ? OneCall::succeeded() : OneCall::failed(std::move(called.message));
}

DirectResult result_of(const OneCall& call, const Settlement& settlement, TaskId id) {
  if (settlement.kind == Settlement::Kind::retry || settlement.kind == Settlement::Kind::hand_back) {
    return call.stored(id, settlement.error);
  }
  return settlement.outcome == Outcome::succeeded ? OneCall::succeeded() : OneCall::failed(settlement.error);
}

// Persist::always: it is a task before it runs, leased by this instance.
DirectResult leased(OneCall& call) {
  const engine::Started started = call.start();
  if (!started.run) return call.stored(started.id, "a task with this key is live; it was not run again");
  started.run->direct = &call.direct;
  started.run->started = call.core.clock().steady();
  started.run->handler->count_first_attempt(started.run->started);
  Settlement settlement = call.core.attempt(*started.run);
  started.run->direct = nullptr;
  DirectResult result = result_of(call, settlement, started.id);
  call.core.settle_started(started.run, std::move(settlement));
  return result;
}

}  // namespace

DirectResult DirectCalls::make(const engine::KnownHandler& handler, detail::DirectCall& direct,
                               const SubmitOptions& options) {
  OneCall call{core_, handler, direct, options};
  // Inside a retry the call runs bare, and its result is for the caller only.
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
