// One run of user code inside the filters, the meaning of its result, and the records of it.

#include <algorithm>

#include "engine/attempt.h"
#include "engine/error_text.h"
#include "engine/task_spans.h"
#include "policy/limits.h"
#include "task/attempt_log.h"

namespace easyretry {
namespace {
thread_local const AttemptScope* running_attempt = nullptr;
}

AttemptScope::AttemptScope(std::string_view handler, int number, const TaskInfo* task)
    : handler_(handler), number_(number), task_(task) {}

void AttemptScope::set(std::string name, std::string value) {
  values_.insert_or_assign(std::move(name), std::move(value));
}

std::string_view AttemptScope::value(std::string_view name) const {
  const auto found = values_.find(name);
  return found == values_.end() ? std::string_view{} : std::string_view{found->second};
}

const AttemptScope* current_attempt() {
  return running_attempt;
}

namespace engine {
namespace {

class ScopeGuard {
 public:
  explicit ScopeGuard(const AttemptScope& scope) : outer_(running_attempt) { running_attempt = &scope; }
  ~ScopeGuard() { running_attempt = outer_; }
  ScopeGuard(const ScopeGuard&) = delete;
  ScopeGuard& operator=(const ScopeGuard&) = delete;

 private:
  const AttemptScope* outer_;
};

// The filters from `next` on, then the function.
class Chain {
 public:
  Chain(const FilterChain& filters, AttemptScope& scope, const std::function<detail::Reply()>& body)
      : filters_(filters), scope_(scope), body_(body) {}

  void proceed(std::size_t next) {
    if (next == filters_.size()) return run_body();
    filters_[next](scope_, [this, next] { proceed(next + 1); });
  }

  // The reply of the function's last run; throws what it threw if no filter passed that on.
  detail::Reply reply() {
    if (reply_) return *std::move(reply_);
    if (thrown_) std::rethrow_exception(thrown_);
    throw std::logic_error("a filter neither called proceed() nor gave an answer");
  }

 private:
  void run_body() {
    reply_.reset();
    try {
      reply_ = body_();
    } catch (...) {
      thrown_ = std::current_exception();
      throw;
    }
  }

  const FilterChain& filters_;
  AttemptScope& scope_;
  const std::function<detail::Reply()>& body_;
  std::optional<detail::Reply> reply_;
  std::exception_ptr thrown_;
};

Called judge_answer(Answer answer) {
  switch (answer.kind) {
    case Answer::Kind::done: return {};
    case Answer::Kind::retry_later: return {Called::End::failed, spoken(std::move(answer.why))};
    case Answer::Kind::retry_after:
      return {Called::End::failed, spoken(std::move(answer.why)),
              std::clamp(answer.delay, Millis{0}, policy::kLongestDelay)};
    case Answer::Kind::give_up: return {Called::End::rejected, spoken(std::move(answer.why))};
  }
  return {Called::End::failed, "the handler's answer is not one of done, retry_later, retry_after, give_up"};
}

}  // namespace

Called Execution::run() const {
  try {
    return judge(handler, run_filtered(), arguments);
  } catch (const detail::UndecodablePayload& e) {
    return {Called::End::undecodable, e.what()};
  } catch (...) {
    return judge_thrown(handler.handler.policy, std::current_exception());
  }
}

detail::Reply Execution::run_filtered() const {
  const bool kept = task != nullptr && handler.handler.options.keep_results > Millis{0};
  const bool want_result = handler.handler.policy.success_when.expression() || handler.handler.on_success || kept;
  if (filters.empty()) return body(want_result);
  AttemptScope scope{handler.handler.name, number, task};
  const ScopeGuard guard{scope};
  const std::function<detail::Reply()> function = [&] { return body(want_result); };
  Chain chain{filters, scope, function};
  chain.proceed(0);
  if (scope.answer() && scope.answer()->kind == Answer::Kind::done && handler.handler.returns_value) {
    throw std::logic_error("a filter answered done() for a handler that returns a value");
  }
  if (scope.answer()) return {.answer = scope.answer(), .result = "null"};
  return chain.reply();
}

Called judge(const KnownHandler& handler, detail::Reply reply, const std::function<std::string()>& arguments) {
  const SuccessWhen& rule = handler.handler.policy.success_when;
  if (reply.answer) {
    Called called = judge_answer(*std::move(reply.answer));
    called.result = std::move(reply.result);
    return called;
  }
  if (reply.success == false) return {Called::End::failed, "not a success according to success_when"};
  if (const auto* expression = rule.expression()) {
    if (!reply.unwritable.empty()) return {Called::End::failed, "success_when has no result: " + reply.unwritable};
    const auto ok = expression->evaluate(reply.result, expression->reads_args() ? arguments() : std::string{});
    if (!ok) return {Called::End::failed, "success_when failed: " + ok.error().detail};
    if (!*ok) return {Called::End::failed, "not a success according to success_when: " + rule.text()};
  }
  return {Called::End::success, {}, {}, std::move(reply.result), {}, std::move(reply.unwritable)};
}

Called judge_thrown(const Policy& policy, const std::exception_ptr& thrown, const char* what) {
  const auto end = worth_retrying(policy, thrown) ? Called::End::failed : Called::End::rejected;
  return {end, what != nullptr ? spoken(what) : message_of(thrown), {}, {}, thrown};
}

void tell_circuit(const KnownHandler& handler, const Called& called, Instant now) {
  if (!handler.circuit || called.end == Called::End::undecodable) return;
  handler.circuit->record(now, called.end != Called::End::failed);
}

void note_attempt(const Run& run, const Context& context, task::Settlement& settlement) {
  using Kind = task::Settlement::Kind;
  const TaskInfo& info = run.record.info;
  if (context.spans.heard() && info.stage == Stage::run) tell_attempt(run, context, settlement);
  if (settlement.kind == Kind::hand_back || info.stage != Stage::run) return;
  const bool succeeded = settlement.kind != Kind::retry && settlement.outcome == Outcome::succeeded;
  if (succeeded && info.deliveries <= 1) return;
  const Instant now = context.clock.steady();
  const Instant started = run.started;
  PastAttempt attempt{.number = info.attempts, .began_at = std::nullopt, .ended_at = context.store_time.at(now)};
  if (started != Instant::max()) attempt.began_at = context.store_time.at(started);
  attempt.end = succeeded ? AttemptEnd::succeeded : AttemptEnd::failed;
  attempt.by = run.record.locked_by;
  if (!succeeded) attempt.error = settlement.error;
  settlement.attempt = task::attempt_line(attempt);
}

}  // namespace engine
}  // namespace easyretry
