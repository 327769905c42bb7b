#include "engine/retry_budget.h"

#include <algorithm>

namespace easyretry::engine {
namespace {

using namespace std::chrono_literals;

// If no retry was held back for this long, no Claimer waits for the next one.
constexpr auto kHeldLately = 3s;

// A Claimer does not wake up for each retry. But it looks every second: first attempts that others make earn retries,
// and nobody tells it.
constexpr Millis kSoonestLook{50};
constexpr Millis kLatestLook{1000};

constexpr double kRoundingOfRetries = 1e-6;  // so that next_start() is not a moment too early

std::int64_t whole_seconds(Instant when) {
  return std::chrono::floor<std::chrono::seconds>(when.time_since_epoch()).count();
}

}  // namespace

void RetryBudget::set(std::optional<double> share, double per_second) {
  const std::lock_guard lock{mutex_};
  worth_ = share ? *share / (1 - *share) : 0;
  per_second_ = per_second;
  is_set_ = share.has_value();
}

void RetryBudget::earn(Instant now) {
  const std::lock_guard lock{mutex_};
  const std::int64_t second = whole_seconds(now);
  Earned& earned = earned_[static_cast<std::size_t>(second % kSeconds)];
  if (earned.second != second) earned = {second, 0};
  earned.retries += worth_;
}

std::size_t RetryBudget::room(Instant now, std::size_t wanted) {
  const std::lock_guard lock{mutex_};
  const std::size_t granted = std::min(wanted, static_cast<std::size_t>(balance(now) + kRoundingOfRetries));
  if (granted < wanted) {
    held_back_at_ = now;
    if (held_since_ == Instant::min()) held_since_ = now;
  } else if (wanted > 0) {
    held_since_ = Instant::min();
  }
  return granted;
}

// First those per second, which are lost sooner, then those that were earned first.
void RetryBudget::spend(Instant now, std::size_t retries) {
  const std::lock_guard lock{mutex_};
  refill(now);
  auto left = static_cast<double>(retries);
  const auto take_from = [&left](double& have) {
    const double taken = std::min(have, left);
    have -= taken;
    left -= taken;
  };
  take_from(free_);
  for (std::int64_t second = whole_seconds(now) - kSeconds + 1; second <= whole_seconds(now); ++second) {
    Earned& earned = earned_[static_cast<std::size_t>(second % kSeconds)];
    if (earned.second == second) take_from(earned.retries);
  }
}

Instant RetryBudget::next_start(Instant now) {
  const std::lock_guard lock{mutex_};
  if (held_back_at_ == Instant::min() || now - held_back_at_ > kHeldLately) return Instant::max();
  const double missing = std::max(0.0, 1 - balance(now));
  const double most = std::chrono::duration<double>(kLatestLook).count();
  const std::chrono::duration<double> until{std::min(most, missing / per_second_)};
  return now + std::max(kSoonestLook, std::chrono::ceil<Millis>(until));
}

std::optional<Instant> RetryBudget::held_since() const {
  const std::lock_guard lock{mutex_};
  return held_since_ == Instant::min() ? std::nullopt : std::optional{held_since_};
}

void RetryBudget::lift() {
  const std::lock_guard lock{mutex_};
  held_since_ = Instant::min();
}

// Those per second that did not start in time are lost, so that they do not come all at once.
void RetryBudget::refill(Instant now) {
  const double most = std::max(1.0, per_second_);
  const bool first = refilled_at_ == Instant::min();
  const double grown = first ? most : per_second_ * std::chrono::duration<double>(now - refilled_at_).count();
  free_ = std::min(most, free_ + std::max(0.0, grown));
  refilled_at_ = std::max(refilled_at_, now);
}

double RetryBudget::balance(Instant now) {
  refill(now);
  double sum = free_;
  for (const Earned& earned : earned_) {
    if (earned.second > whole_seconds(now) - kSeconds) sum += earned.retries;
  }
  return sum;
}

}  // namespace easyretry::engine
