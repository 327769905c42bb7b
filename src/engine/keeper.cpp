#include "engine/keeper.h"

#include <algorithm>

#include "engine/reporting.h"

namespace easyretry::engine {
namespace {

constexpr auto kKeepEvery = std::chrono::hours{1};
// Whoever asks for counts reads what is not yet added up: of 1,000 transactions a second, 5,000 rows.
constexpr auto kFoldEvery = std::chrono::seconds{5};
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
  const auto more = context_.store.fold_counts();
  if (!more) {
    context_.note(more.error());
    return context_.clock.steady() + kAfterFailure;
  }
  return *more ? Instant::min() : context_.clock.steady() + kFoldEvery;
}

}  // namespace easyretry::engine
