#include "engine/attempt.h"

#include <algorithm>

#include "engine/error_text.h"
#include "engine/reporting.h"
#include "engine/task_scope.h"
#include "policy/decide.h"

namespace easyretry::engine {
namespace {

using task::Settlement;
using Kind = Settlement::Kind;

// A task that only a newer release can read is left to instances of that release.
constexpr Millis kNewerPayloadPause{30'000};

class Attempt {
 public:
  Attempt(Run& run, Context& context) : run_(run), context_(context), handler_(run.handler->handler) {}

  Settlement perform() {
    if (auto instead = nothing_to_run()) return *std::move(instead);
    return conclude(call());
  }

  // The settlement if the handler must not run; nullopt if it must.
  std::optional<Settlement> nothing_to_run() {
    if (crashes_exceeded()) return quarantine();
    if (info().stage == Stage::on_success || info().stage == Stage::on_final_failure) return repeat_callback();
    if (info().stage != Stage::run) return hand_back();
    // Time limits are checked before the handler runs: an order that has expired must not be paid late.
    if (auto reason = policy::stop_reason(stop_rules(), info().attempts - 1, info().created_at, now())) {
      return fail_finally(Outcome::exhausted, {.message = last_error_and(*reason)});
    }
    if (payload_is_newer()) return hand_back(kNewerPayloadPause);
    return std::nullopt;
  }

  Settlement conclude(Called called) {
    Settlement s = decide(std::move(called));
    note_attempt(run_, context_, s);
    return s;
  }

 private:
  Settlement decide(Called called) {
    if (called.end != Called::End::success) tell(EventKind::attempt_failed, called.message);
    if (!called.unwritable.empty()) warn("its result cannot be written as JSON: " + called.unwritable);
    const bool succeeded = called.end == Called::End::success;
    if (!succeeded && run_.interrupt == Interrupt::draining) return hand_back();
    if (!succeeded && run_.interrupt == Interrupt::timeout && called.end != Called::End::undecodable) {
      called.end = Called::End::failed;
      called.message = "timed out after " + std::to_string(handler_.options.timeout.count()) + " ms: " + called.message;
    }
    tell_circuit(*run_.handler, called, context_.clock.steady());
    if (succeeded) return succeed(std::move(called.result));
    switch (called.end) {
      case Called::End::undecodable: return fail_finally(Outcome::parked, called);
      case Called::End::rejected:
        // The caller of a direct call learns of it from the exception or the return value.
        if (run_.direct != nullptr) return with_thrown(called, finish(Outcome::rejected, called.message));
        return fail_finally(Outcome::rejected, called);
      default: return retry(std::move(called));
    }
  }

  const TaskInfo& info() const { return run_.record.info; }
  TimePoint now() const { return context_.store_now(); }

  Settlement settlement(Kind kind) const {
    Settlement s;
    s.ticket = run_.ticket();
    s.kind = kind;
    return s;
  }

  Settlement hand_back(Millis delay = Millis{0}) const {
    Settlement s = handed_back(run_);
    s.delay = delay;
    return s;
  }

  Settlement finish(Outcome outcome, std::string error) const {
    Settlement s = settlement(Kind::finish);
    s.outcome = outcome;
    s.error = std::move(error);
    return s;
  }

  // The callbacks of a task that kept killing its worker get the same number of chances again.
  bool callback_crashes_exceeded() const { return info().crashes >= 2 * context_.live.max_crashes; }

  bool crashes_exceeded() const {
    return info().stage == Stage::run ? info().crashes >= context_.live.max_crashes : callback_crashes_exceeded();
  }

  Settlement quarantine() {
    const std::string died = "the worker died " + std::to_string(info().crashes) + " times";
    if (info().stage != Stage::run) return abandon_callback(decided(), info().last_error, died);
    const std::string limit = "max_crashes = " + std::to_string(context_.live.max_crashes);
    return fail_finally(Outcome::quarantined,
                        {.message = last_error_and(died + " while running this task (" + limit + ")")});
  }

  // A limit that ends the task while it waits does not hide why the handler failed.
  std::string last_error_and(const std::string& reason) const {
    return info().last_error.empty() ? reason : info().last_error + " (" + reason + ")";
  }

  bool payload_is_newer() const { return run_.record.payload_version > handler_.options.payload_version; }

  Called call() {
    std::string arguments;
    if (run_.direct == nullptr) {
      auto opened = context_.payloads.open_arguments(run_.record);
      if (!opened) return {Called::End::undecodable, opened.error().detail};
      arguments = *std::move(opened);
    }
    const auto filters = context_.filters.chain();
    const Execution execution{*run_.handler,
                              *filters,
                              info().attempts,
                              &info(),
                              [&](bool want_result) { return invoke(arguments, want_result); },
                              [&] { return run_.direct != nullptr ? run_.direct->arguments() : arguments; }};
    Called called = execution.run();
    if (run_.direct != nullptr) run_.direct->thrown = called.thrown;
    return called;
  }

  detail::Reply invoke(std::string& arguments, bool want_result) {
    if (run_.direct != nullptr) return run_.direct->run(want_result);
    const auto& upgrade = handler_.options.upgrade;
    if (run_.record.payload_version < handler_.options.payload_version && upgrade) {
      arguments = upgraded(std::move(arguments));
    }
    return handler_.invoke(arguments, want_result);
  }

  std::string upgraded(std::string arguments) const {
    const int version = run_.record.payload_version;
    try {
      return handler_.options.upgrade(version, std::move(arguments));
    } catch (...) {
      throw detail::UndecodablePayload("the stored arguments of version " + std::to_string(version) +
                                       " could not be upgraded: " + message_of(std::current_exception()));
    }
  }

  Settlement retry(Called called) {
    const Millis last = info().last_failed_at ? info().next_at - *info().last_failed_at : Millis{0};
    Settlement s = settlement(Kind::retry);
    s.delay =
        called.delay ? *called.delay : policy::next_delay(backoff(), info().attempts, last, context_.random.unit());
    if (auto reason = policy::stop_reason(stop_rules(), info().attempts, info().created_at, now() + s.delay)) {
      called.message += " (" + *reason + ")";
      return fail_finally(Outcome::exhausted, called);
    }
    s.error = std::move(called.message);
    if (handler_.on_retry_scheduled) tell_of_retry(s);
    return s;
  }

  void tell_of_retry(const Settlement& retry) const {
    TaskInfo next = info();
    next.next_at = now() + retry.delay;
    callback_error([&] { handler_.on_retry_scheduled(retry.error, next); });
  }

  Stop stop_rules() const {
    const auto& rules = run_.record.rules;
    return {rules.max_attempts, rules.max_duration, rules.deadline};
  }

  Backoff backoff() const {
    const std::string& text = run_.record.rules.backoff;
    if (text.empty() || text == run_.handler->rules.backoff) return run_.handler->backoff;
    try {
      return policy::parse_backoff(text);
    } catch (const std::invalid_argument& e) {
      warn("its stored backoff is unreadable; the handler's is used: " + std::string{e.what()});
      return run_.handler->backoff;
    }
  }

  // Another instance may run the task by now, or it was cancelled, so no callback begins. The settlement leaves the
  // callback to the next claim, or is refused.
  bool overruled() const {
    const Interrupt why = run_.interrupt;
    return why == Interrupt::lease_lost || why == Interrupt::cancelled || lease_in_doubt();
  }

  bool lease_in_doubt() const { return context_.clock.steady() >= run_.trusted_until.load(); }

  Settlement leave_callback(Stage stage, Outcome outcome, std::string error) const {
    Settlement s = advance(stage, outcome, std::move(error));
    s.delay = Millis{0};
    return s;
  }

  Settlement succeed(std::string result) {
    if (!handler_.on_success) return with_result(std::move(result), finish(Outcome::succeeded, {}));
    if (overruled()) return keep(std::move(result), leave_callback(Stage::on_success, Outcome::succeeded, {}));
    const auto thrown = callback_error([&] { handler_.on_success(result, info()); });
    if (!thrown) return with_result(std::move(result), finish(Outcome::succeeded, {}));
    if (thrown->for_good) {
      return with_result(std::move(result), abandon_callback(Outcome::succeeded, "on_success", thrown->message));
    }
    return keep(std::move(result), advance(Stage::on_success, Outcome::succeeded, "on_success: " + thrown->message));
  }

  // Stores the result for a later callback. If the result cannot be sealed, that is no reason to run the handler again.
  Settlement keep(std::string result, Settlement s) {
    auto sealed = context_.payloads.seal_result(run_.record, std::move(result));
    if (!sealed) return abandon_callback(Outcome::succeeded, s.error, sealed.error().detail);
    s.result = *std::move(sealed);
    return s;
  }

  // Keeps the result with history. If it cannot be kept, that is logged: the task has succeeded anyway.
  Settlement with_result(std::string result, Settlement s) {
    const Millis keep = handler_.options.keep_results;
    if (keep <= Millis{0} || !handler_.returns_value || result.empty()) return s;
    auto kept = context_.payloads.seal_result(run_.record, bounded_result(std::move(result)));
    if (!kept) {
      warn("its result is not kept: " + kept.error().detail);
      return s;
    }
    s.result = *std::move(kept);
    s.keep_result = keep;
    return s;
  }

  std::string bounded_result(std::string result) const {
    const std::size_t most = context_.live.max_payload;
    if (result.size() <= most) return result;
    warn("its result of " + std::to_string(result.size()) + " bytes is not kept; max_payload is " +
         std::to_string(most));
    return left_out_result(result.size());
  }

  // The decision is stored before the callback runs: if the worker died in between, the task would be tried again, and
  // its owner, already notified of the final failure, might hear of a success.
  Settlement fail_finally(Outcome outcome, const Called& called) const {
    if (!handler_.on_final_failure) return with_thrown(called, finish(outcome, called.message));
    return with_thrown(called, leave_callback(Stage::on_final_failure, outcome, called.message));
  }

  Settlement with_thrown(const Called& called, Settlement s) const {
    s.thrown = thrown_text(called.thrown, context_.options);
    return s;
  }

  Settlement advance(Stage stage, Outcome outcome, std::string error) const {
    Settlement s = settlement(Kind::advance);
    s.stage = stage;
    s.outcome = outcome;
    s.delay = callback_delay(1, context_.random.unit());
    s.error = std::move(error);
    return s;
  }

  Settlement repeat_callback() {
    const auto result = context_.payloads.open_result(run_.record);
    if (!result) return abandon_callback(decided(), info().last_error, result.error().detail);
    const auto thrown = callback_error([&] { call_callback(*result); });
    if (!thrown) return with_result(*result, finish(decided(), {}));
    if (thrown->for_good) {
      return with_result(*result, abandon_callback(decided(), info().last_error, thrown->message));
    }
    if (run_.interrupt == Interrupt::draining) return hand_back();
    const bool tried_before = info().stage == Stage::on_success;  // directly after the handler
    const int tries = run_.record.callback_attempts + (tried_before ? 1 : 0);
    if (tries >= kCallbackAttempts) {
      const std::string why = "it failed " + std::to_string(tries) + " times: " + thrown->message;
      return with_result(*result, abandon_callback(decided(), info().last_error, why));
    }
    Settlement s = settlement(Kind::retry);
    s.delay = callback_delay(tries, context_.random.unit());
    // last_error stays the reason of the final failure, which the callback gets again.
    if (info().stage == Stage::on_success) s.error = "on_success: " + thrown->message;
    return s;
  }

  void call_callback(const std::string& result) const {
    if (info().stage == Stage::on_success && handler_.on_success) handler_.on_success(result, info());
    if (info().stage == Stage::on_final_failure && handler_.on_final_failure) {
      handler_.on_final_failure({decided(), info().last_error}, info());
    }
  }

  Outcome decided() const {
    return info().outcome.value_or(info().stage == Stage::on_success ? Outcome::succeeded : Outcome::exhausted);
  }

  Settlement abandon_callback(Outcome outcome, const std::string& error, const std::string& why) {
    Counters::add(context_.counters.callbacks_abandoned);
    warn("its callback was given up: " + why);
    return finish(outcome, error + " (callback given up: " + why + ")");
  }

  template <class F>
  std::optional<CallbackFailure> callback_error(const F& callback) const {
    return engine::callback_error(context_, callback, [this]() -> const TaskInfo& { return info(); });
  }

  void tell(EventKind kind, const std::string& message) const {
    if (context_.events.heard()) context_.events.tell({kind, now(), info(), message});
  }

  void warn(const std::string& text) const {
    context_.log(LogLevel::warning, "task " + to_string(info().id) + " (" + info().handler + "): " + text);
  }

  Run& run_;
  Context& context_;
  const detail::Handler& handler_;
};

Settlement ended(Run& run, const Context& context, Settlement s) {
  // A task does not count as running while its outcome waits to be written, however long that takes.
  const Instant started = run.started.exchange(Instant::max());
  if (started != Instant::max()) run.handler->measure(context.clock.steady() - started, s);
  s.error = kept_error(s.error);
  return s;
}

}  // namespace

Instant mark_started(Run& run, Context& context) {
  const Instant now = context.clock.steady();
  run.started = now;
  const Millis late = context.store_time.at(now) - run.record.info.next_at;
  context.measures.lateness.add(late);
  run.handler->lateness->add(late);
  return now;
}

Settlement handed_back(const Run& run) {
  Settlement s;
  s.ticket = run.ticket();
  s.kind = Kind::hand_back;
  return s;
}

bool still_ours(Run& run, Context& context) {
  const Interrupt why = run.interrupt;
  if (why == Interrupt::lease_lost || why == Interrupt::cancelled) return false;
  const Instant now = context.clock.steady();
  if (now >= run.trusted_until.load()) return false;
  if (run.settled || run.direct != nullptr) return true;  // not in any store, or it began with its claim
  const auto has_seat = [now](const auto& brake) { return brake->may_begin(now); };
  if (run.held && !std::ranges::all_of(run.handler->brakes, has_seat)) return false;
  const Millis lease = context.options.lease;
  const Instant confirmed = run.trusted_until.load() - (trust(Instant{}, lease) - Instant{});
  if (now - confirmed <= kBeginWithin) return true;
  const storage::Renewal renewal{run.ticket(), lease};
  const auto reply = context.ask(StoreVerb::renew, [&](storage::Store& store) { return store.renew({&renewal, 1}); });
  if (!reply || reply->trouble || !reply->applied.front()) return false;
  run.trust_until(trust(now, lease));
  // The reply may have taken longer than the lease: the process was suspended, or the network was slow.
  return context.clock.steady() < run.trusted_until.load();
}

// If another instance may have the task by now, nothing starts: its version protects it from our settlement.
Settlement attempt(Run& run, Context& context) {
  if (!still_ours(run, context)) return ended(run, context, handed_back(run));
  const TaskScope scope{run, context};
  return ended(run, context, Attempt{run, context}.perform());
}

AttemptStart begin_attempt(Run& run, Context& context) {
  if (!still_ours(run, context)) return {ended(run, context, handed_back(run)), {}};
  Attempt attempt{run, context};
  if (auto instead = attempt.nothing_to_run()) return {ended(run, context, *std::move(instead)), {}};
  auto arguments = context.payloads.open_arguments(run.record);
  if (arguments) return {std::nullopt, *std::move(arguments)};
  return {end_attempt(run, context, Called{Called::End::undecodable, arguments.error().detail}), {}};
}

Settlement end_attempt(Run& run, Context& context, detail::Reply reply, const std::string& arguments) {
  return end_attempt(run, context, judge(*run.handler, std::move(reply), [&] { return arguments; }));
}

Settlement end_attempt(Run& run, Context& context, Called called) {
  return ended(run, context, Attempt{run, context}.conclude(std::move(called)));
}

}  // namespace easyretry::engine
