#include "engine/keeper.h"

#include <algorithm>

#include "engine/reporting.h"

namespace easyretry::engine {
namespace {

constexpr auto kKeepEvery = std::chrono::hours{1};
// A query for counts also reads the counts that are not yet added up: at 1,000 transactions per second, 5,000 rows.
constexpr auto kFoldEvery = std::chrono::seconds{5};
// After no task was stored or run here: other instances add up their own work, unless they died or have no engine.
constexpr auto kFoldForOthersEvery = std::chrono::minutes{1};
constexpr auto kAfterFailure = std::chrono::minutes{1};
// Retention rules may change at any time, so they are checked this often; in memory, unless there is work to do.
constexpr auto kLookAtRulesEvery = std::chrono::minutes{1};
constexpr auto kLookForRulesEvery = std::chrono::minutes{5};

// An ended task stays up to a tenth longer than its handler keeps it, but at least for a minute, and at most for an
// hour.
Millis sweep_every(const std::vector<storage::Retention>& rules) {
  Millis shortest = Millis::max();
  for (const storage::Retention& rule : rules) {
    shortest = std::min({shortest, rule.keep.value_or(shortest), rule.keep_args.value_or(shortest)});
  }
  return std::clamp<Millis>(shortest / 10, std::chrono::minutes{1}, std::chrono::hours{1});
}

}  // namespace

Step Keeper::step() {
  const Instant now = context_.clock.steady();
  if (now >= keep_at_) keep_at_ = keep();
  if (now >= fold_at_) fold_at_ = fold();
  if (now >= expire_at_) expire_at_ = expire();
  return {true, std::min({keep_at_, fold_at_, expire_at_})};
}

Instant Keeper::keep() {
  const auto report = context_.store.keep();
  if (!report) {
    context_.note(report.error());
    return context_.clock.steady() + kAfterFailure;
  }
  for (const storage::KeepStep& step : report->steps) engine::report(context_, step);
  return report->more ? Instant::min() : context_.clock.steady() + kKeepEvery;
}

Instant Keeper::fold() {
  const std::uint64_t work = work_done();
  const Instant now = context_.clock.steady();
  if (work == folded_work_ && now < fold_for_others_at_) return now + kFoldEvery;
  const auto more = context_.store.fold_counts();
  if (!more) {
    context_.note(more.error());
    return context_.clock.steady() + kAfterFailure;
  }
  if (*more) return Instant::min();
  folded_work_ = work;
  fold_for_others_at_ = context_.clock.steady() + kFoldForOthersEvery;
  return context_.clock.steady() + kFoldEvery;
}

Instant Keeper::expire() {
  const Instant now = context_.clock.steady();
  std::vector<storage::Retention> rules = this->rules();
  if (rules.empty()) return now + kLookForRulesEvery;
  if (rules == expired_rules_ && now < expired_at_ + sweep_every(rules)) return now + kLookAtRulesEvery;
  const auto more = context_.store.expire(rules);
  if (!more) {
    context_.note(more.error());
    return context_.clock.steady() + kAfterFailure;
  }
  if (*more) return Instant::min();
  expired_rules_ = std::move(rules);
  expired_at_ = now;
  return now + kLookAtRulesEvery;
}

std::vector<storage::Retention> Keeper::rules() const {
  std::vector<storage::Retention> rules;
  for (const auto& known : context_.handlers.snapshot()->by_number) {
    const HandlerOptions& options = known->handler.options;
    if (!options.keep && !options.keep_args) continue;
    rules.push_back({context_.options.name_space, known->handler.name, options.keep, options.keep_args});
  }
  return rules;
}

std::uint64_t Keeper::work_done() const {
  return context_.counters.stored + context_.counters.claimed;
}

}  // namespace easyretry::engine
