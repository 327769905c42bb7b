#include "server/rate_limit.h"

#include <algorithm>

namespace easyretry::server {
namespace {

using std::chrono::nanoseconds;

constexpr nanoseconds kAtOnce = std::chrono::seconds{1};
// Whoever comes when as many as are known have all been busy within this second: memory is bounded, not their number.
const std::string kEverybodyElse;

}  // namespace

RateLimit::RateLimit(int per_second, const Clock& clock, std::size_t most_known)
    : apart_(per_second > 0 ? kAtOnce / per_second : nanoseconds{0}), clock_(clock), most_known_(most_known) {}

std::optional<nanoseconds> RateLimit::wait_of(const std::string& who) {
  if (apart_ == nanoseconds{0}) return std::nullopt;
  const std::lock_guard lock{mutex_};
  const Instant now = clock_.steady();
  if (lasts_until_.size() >= most_known_ && !lasts_until_.contains(who)) forget_the_idle(now);
  const bool room = lasts_until_.size() < most_known_ || lasts_until_.contains(who);
  Instant& until = lasts_until_[room ? who : kEverybodyElse];
  const Instant next = std::max(until, now) + apart_;
  if (next > now + kAtOnce) return next - now - kAtOnce;
  until = next;
  return std::nullopt;
}

void RateLimit::forget_the_idle(Instant now) {
  std::erase_if(lasts_until_, [now](const auto& entry) { return entry.second <= now; });
}

}  // namespace easyretry::server
