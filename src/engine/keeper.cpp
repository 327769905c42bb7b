#include "engine/keeper.h"

#include <algorithm>

#include "engine/reporting.h"

namespace easyretry::engine {
namespace {

constexpr auto kKeepEvery = std::chrono::hours{1};
// A query for counts reads what is not yet added up: at 1,000 transactions per second, 5,000 rows.
constexpr auto kFoldEvery = std::chrono::seconds{5};
// If nothing was stored or run here: other instances add up their own work, unless they died or have no engine.
constexpr auto kFoldForOthersEvery = std::chrono::minutes{1};
constexpr auto kAfterFailure = std::chrono::minutes{1};

}  // namespace

Step Keeper::step() {
  const Instant now = context_.clock.steady();
  if (now >= keep_at_) keep_at_ = keep();
  if (now >= fold_at_) fold_at_ = fold();
  return {true, std::min(keep_at_, fold_at_)};
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

std::uint64_t Keeper::work_done() const {
  return context_.counters.stored + context_.counters.claimed;
}

}  // namespace easyretry::engine
