#include "engine/task_scope.h"

#include <algorithm>

#include <easyretry/retryable.h>

#include "base/utf8.h"

namespace easyretry {
namespace {

thread_local const TaskContext* running_task = nullptr;
thread_local bool retrying = false;

constexpr std::size_t kMaxProgress = 1000;

}  // namespace

const TaskContext* current_task() {
  return running_task;
}

bool TaskContext::extend_lease(Millis by) const {
  return control != nullptr && control->extend(by);
}

bool TaskContext::progress(std::string_view note) const {
  return control != nullptr && control->note(note);
}

namespace detail {

bool inside_retry() {
  return running_task != nullptr || retrying;
}

bool TaskControl::extend(Millis by) {
  if (by <= Millis{0} || by > std::chrono::hours{24}) {
    throw std::invalid_argument("extend_lease: use more than 0 and at most 24 hours");
  }
  run_.extended_until = context_.clock.steady() + by;
  // Under a brake a lease is not longer than usual: it must end before the task's seat does. The Renewer renews it.
  const bool braked = !run_.handler->brakes.empty();
  return renew(braked ? context_.options.lease : std::max(by, context_.options.lease), std::nullopt);
}

bool TaskControl::note(std::string_view progress) {
  return renew(context_.options.lease, std::string{base::cut_utf8(progress, kMaxProgress)});
}

bool TaskControl::renew(Millis lease, std::optional<std::string> progress) {
  if (run_.settled) return true;  // in memory: no other instance can take it
  const Instant sent = context_.clock.steady();
  const storage::Renewal renewal{run_.ticket(), lease, std::move(progress)};
  const auto reply = context_.ask(engine::StoreVerb::renew, [&](storage::Store& store) {
    return store.renew({&renewal, 1});
  });
  if (!reply) throw StoreError(reply.error());
  if (!reply->applied.front()) return false;
  run_.trust_until(engine::trust(sent, lease));
  return true;
}

}  // namespace detail

namespace engine {

TaskScope::TaskScope(Run& run, Context& context)
    : control_(run, context),
      context_{run.record.info, run.stop.get_token(), run.record.rules.deadline, run.record.info.attempts <= 1,
               &control_},
      outer_(running_task) {
  running_task = &context_;
}

TaskScope::~TaskScope() {
  running_task = outer_;
}

RetryScope::RetryScope() : outer_(retrying) {
  retrying = true;
}

RetryScope::~RetryScope() {
  retrying = outer_;
}

}  // namespace engine
}  // namespace easyretry
