#include "engine/execution.h"

#include <algorithm>

#include "base/utf8.h"
#include "policy/limits.h"

namespace easyretry {
namespace {
thread_local const AttemptScope* running_attempt = nullptr;
}

const AttemptScope* current_attempt() {
  return running_attempt;
}

namespace engine {
namespace {

constexpr std::size_t kMaxErrorText = 4096;
// Bytes kept of the end, which has the reason of giving up and nested messages.
constexpr std::size_t kErrorTextEnd = 512;

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

// A failure without a message would not be recognised as one.
std::string spoken(std::string message) {
  return message.empty() ? "failed without a message" : std::move(message);
}

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

void Filters::add(Filter filter) {
  const std::lock_guard lock{mutex_};
  auto next = std::make_shared<FilterChain>(*chain_);
  next->push_back(std::move(filter));
  chain_ = std::move(next);
}

std::shared_ptr<const FilterChain> Filters::chain() const {
  const std::lock_guard lock{mutex_};
  return chain_;
}

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
  const bool want_result = handler.handler.policy.success_when.expression() || handler.handler.on_success;
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
  return {Called::End::success, {}, {}, std::move(reply.result)};
}

Called judge_thrown(const Policy& policy, const std::exception_ptr& thrown, const char* what) {
  const auto end = worth_retrying(policy, thrown) ? Called::End::failed : Called::End::rejected;
  return {end, what != nullptr ? spoken(what) : message_of(thrown), {}, {}, thrown};
}

std::string message_of(const std::exception_ptr& thrown) {
  try {
    std::rethrow_exception(thrown);
  } catch (const std::exception& e) {
    const auto* outer = dynamic_cast<const std::nested_exception*>(&e);
    if (outer == nullptr || outer->nested_ptr() == nullptr) return spoken(e.what());
    return spoken(e.what()) + ": " + message_of(outer->nested_ptr());
  } catch (const std::string& text) {
    return spoken(text);
  } catch (const char* text) {
    return text == nullptr ? "unknown exception" : spoken(text);
  } catch (...) {
    return "unknown exception";
  }
}

std::string kept_error(const std::string& text) {
  if (text.size() <= kMaxErrorText) {
    std::string whole = base::storable_utf8(text);
    if (whole.size() <= kMaxErrorText) return whole;
  }
  const std::string end = base::storable_utf8(base::last_utf8(text, kErrorTextEnd));
  const std::string mark = " … (cut, " + std::to_string(text.size()) + " bytes in total) … ";
  const std::string_view kept_end = base::last_utf8(end, kErrorTextEnd);
  const std::string start = base::storable_utf8(base::cut_utf8(text, kMaxErrorText));
  const std::string_view kept_start = base::cut_utf8(start, kMaxErrorText - mark.size() - kept_end.size());
  return std::string{kept_start} + mark + std::string{kept_end};
}

}  // namespace engine
}  // namespace easyretry
