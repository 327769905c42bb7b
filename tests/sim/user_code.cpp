#include "sim/user_code.h"

#include <algorithm>
#include <array>
#include <stdexcept>

#include <easyretry/handler.h>

namespace easyretry::sim {
namespace {

using namespace std::chrono_literals;

constexpr int kMaxAttempts = 5;

constexpr std::array kHandlers{
    HandlerKind{"plain", false, false, 0ms, 0, 0}, HandlerKind{"told", true, true, 0ms, 0, 0},
    HandlerKind{"timed", false, true, 5s, 0, 0},   HandlerKind{"narrow", true, false, 0ms, 1, 0},
    HandlerKind{"limited", true, true, 0ms, 0, 2},
};

Policy policy() {
  return {.backoff = Exponential{.first = 100ms, .cap = 4s, .jitter = 100ms}, .stop = {.max_attempts = kMaxAttempts}};
}

}  // namespace

std::span<const HandlerKind> handler_kinds() {
  return kHandlers;
}

const HandlerKind& handler_kind(std::string_view name) {
  return *std::find_if(kHandlers.begin(), kHandlers.end(), [&](const HandlerKind& kind) { return kind.name == name; });
}

void UserCode::register_at(engine::Handlers& handlers, Process& process, int instance, std::string_view missing) {
  for (const HandlerKind& kind : kHandlers) {
    if (kind.name == missing) continue;
    detail::Handler handler;
    handler.name = kind.name;
    handler.policy = policy();
    handler.options = {.concurrency = kind.concurrency, .timeout = kind.timeout};
    if (kind.running > 0) handler.options.limit = LimitOptions{.running = kind.running};
    handler.invoke = [this, &process, instance](const std::string& key, bool) { return run(process, instance, key); };
    if (kind.on_success) {
      handler.on_success = [this, &process, instance](const std::string&, const TaskInfo& task) {
        tell(process, instance, Code::on_success, task);
      };
    }
    if (kind.on_final_failure) {
      handler.on_final_failure = [this, &process, instance](const Failure&, const TaskInfo& task) {
        tell(process, instance, Code::on_final_failure, task);
      };
    }
    handlers.add(std::move(handler));
  }
}

detail::Reply UserCode::run(Process& process, int instance, const std::string& key) {
  // Taken now: on this thread other handlers are current as soon as this one sleeps.
  const TaskInfo info = current_task()->info;
  const std::stop_token stop = current_task()->stop;
  const Plan& plan = plans_.at(key);
  const bool early = ++runs_[key] <= plan.failures;

  journal_.write(instance, Began{info.id, info.version, Code::handler, info.attempts + info.crashes});
  bool stopped = false;
  if (plan.heeds_stop) {
    stopped = process.sleep_unless(stop, work_time(plan));
  } else {
    process.sleep(work_time(plan));
  }
  if (plan.kind == Plan::Kind::poison) process.die();

  const auto end = [&](Verdict verdict) {
    journal_.write(instance, Ended{info.id, info.version, Code::handler, verdict});
  };
  const auto fails = [&](std::string why) -> detail::Reply {
    end(Verdict::failed);
    throw std::runtime_error(std::move(why));
  };
  if (stopped) return fails("stopped");
  switch (plan.kind) {
    case Plan::Kind::flaky:
      if (early) return fails("the bank is busy");
      break;
    case Plan::Kind::unstorable:
      if (early) return fails(std::string{"not text: "} + kUnstorable);
      break;
    case Plan::Kind::waits:
      if (!early) break;
      end(Verdict::failed);
      return {.answer = retry_after(dice_.between(Millis{0}, Millis{5000})), .result = {}};
    case Plan::Kind::doomed: return fails("no such account");
    case Plan::Kind::gives_up:
    case Plan::Kind::deadly_callback: end(Verdict::failed); return {.answer = give_up("closed"), .result = {}};
    case Plan::Kind::unreadable: end(Verdict::failed); throw detail::UndecodablePayload("not what was expected");
    case Plan::Kind::succeeds:
    case Plan::Kind::poison: break;
  }
  end(Verdict::well);
  return {.answer = {}, .result = "1"};
}

void UserCode::tell(Process& process, int instance, Code code, const TaskInfo& task) {
  if (Fiber::killed()) throw Killed{};  // the handler was killed, and the engine takes that for its failure
  const TaskId id = task.id;
  const std::int64_t version = task.version;
  const Plan& plan = plans_.at(task.key);
  const bool fails = ++told_[task.key] <= plan.callback_failures;

  journal_.write(instance, Began{id, version, code, 0});
  process.sleep(dice_.between(Time{0}, Time{20ms}));
  if (plan.kind == Plan::Kind::deadly_callback) process.die();
  journal_.write(instance, Ended{id, version, code, fails ? Verdict::failed : Verdict::well});
  if (fails) throw std::runtime_error("the ledger is locked");
}

task::NewTask UserCode::draw_task(TimePoint now) {
  task::NewTask task;
  task.name_space = scenario_.engine.name_space;
  task.key = draw_key();
  task.handler = handler_of_.at(task.key);
  task.payload = task.key;
  task.rules.max_attempts = kMaxAttempts;
  if (dice_.chance(0.05)) task.rules.max_duration = dice_.between(Millis{100}, Millis{20'000});
  if (dice_.chance(0.05)) task.rules.deadline = now + dice_.between(Millis{-1000}, Millis{20'000});
  if (dice_.chance(0.1)) task.rules.backoff = "fixed delay=300ms";
  if (dice_.chance(0.1)) task.due_at = now + dice_.between(Millis{-10'000}, Millis{10'000});
  if (dice_.chance(0.4)) task.delay = dice_.between(Millis{0}, 2 * scenario_.engine.window);
  if (dice_.chance(0.3)) task.on_duplicate = OnDuplicate::reject;
  return task;
}

std::string UserCode::draw_key() {
  if (!plans_.empty() && dice_.chance(scenario_.duplicate_key)) {
    return std::next(plans_.begin(), dice_.between(0, static_cast<int>(plans_.size()) - 1))->first;
  }
  std::string key = "k" + std::to_string(plans_.size());
  const HandlerKind& handler = kHandlers[static_cast<std::size_t>(dice_.between(0, kHandlers.size() - 1))];
  handler_of_.emplace(key, handler.name);
  plans_.emplace(key, draw_plan(handler));
  return key;
}

Plan UserCode::draw_plan(const HandlerKind& handler) {
  using Kind = Plan::Kind;
  Plan plan;
  plan.kind = dice_.pick<Kind>({Kind::succeeds, Kind::succeeds, Kind::succeeds, Kind::flaky, Kind::flaky, Kind::waits,
                                Kind::unstorable, Kind::doomed, Kind::gives_up, Kind::unreadable});
  if (dice_.chance(scenario_.poison)) {
    plan.kind = handler.on_final_failure && dice_.chance(0.3) ? Kind::deadly_callback : Kind::poison;
  }
  plan.failures = dice_.between(1, kMaxAttempts);  // the last one: too many
  plan.callback_failures = dice_.chance(0.3) ? dice_.between(1, 3) : 0;
  plan.heeds_stop = dice_.chance(0.5);
  plan.hangs = handler.timeout > 0ms && dice_.chance(0.3);
  return plan;
}

Time UserCode::work_time(const Plan& plan) {
  if (calm_) return dice_.between(Time{1ms}, Time{30ms});
  if (plan.hangs && dice_.chance(0.5)) return dice_.between(Time{4s}, Time{20s});
  if (dice_.chance(0.6)) return dice_.between(Time{1ms}, Time{50ms});
  if (dice_.chance(0.5)) return dice_.between(Time{50ms}, Time{1s});
  return dice_.between(Time{scenario_.engine.lease} / 4, Time{scenario_.engine.lease} * 5 / 2);
}

}  // namespace easyretry::sim
