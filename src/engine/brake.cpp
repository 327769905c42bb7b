#include "engine/brake.h"

#include <algorithm>
#include <cmath>

namespace easyretry::engine {
namespace {

using namespace std::chrono_literals;

// If nothing was held back for this long, no Claimer waits for the next start.
constexpr auto kHolds = 3s;

// The wishes of the last three such periods count, so that seats do not come and go with each task.
constexpr auto kWishesOf = 1s;

// Starts are allowed in steps, so that a Claimer does not wake up for each of them.
constexpr auto kBetweenStarts = 20ms;

constexpr double kRoundingOfStarts = 1e-6;  // so that next_start() is not a moment too early

std::chrono::nanoseconds nanos(double seconds) {
  constexpr double kLongest = 1e8;  // three years
  return std::chrono::nanoseconds{static_cast<std::int64_t>(std::min(seconds, kLongest) * 1e9)};
}

}  // namespace

void Brake::set(const LimitOptions& limit, std::vector<std::shared_ptr<const Holdings>> handlers) {
  const std::lock_guard lock{mutex_};
  limit_ = limit;
  handlers_ = std::move(handlers);
  if (alone_) seats_.have(running_limit());
}

LimitOptions Brake::limit() const {
  const std::lock_guard lock{mutex_};
  return limit_;
}

std::int64_t Brake::in_use() const {
  std::int64_t sum = reserved_;
  for (const auto& one : handlers_) sum += one->claiming + one->claimed;
  return sum;
}

double Brake::rate() const {
  return *limit_.per_second * static_cast<double>(shares_.usable()) / static_cast<double>(kShares);
}

// An instance with few shares may still start one at a time.
double Brake::most_at_once() const {
  return std::max(1.0, limit_.burst * static_cast<double>(shares_.usable()) / static_cast<double>(kShares));
}

double Brake::starts_left(Instant now) const {
  if (empty_at_ == Instant::min()) return shares_.usable() > 0 ? most_at_once() : 0;
  const double grown = std::chrono::duration<double>(now - empty_at_).count() * rate();
  return std::clamp(grown, 0.0, most_at_once());
}

// An old answer of the store is good enough for a rate, but not for a limit on running tasks.
bool Brake::knows(Instant now) const {
  return alone_ || (answered_ && (!limit_.running || now < recent_until_));
}

void Brake::note_held_back(Instant now) {
  if (held_since_ == Instant::min()) held_since_ = now;
  held_back_at_ = now;
}

std::size_t Brake::reserve(Instant now, std::size_t wanted) {
  const std::lock_guard lock{mutex_};
  if (wanted == 0 || !limit_.any()) return wanted;
  if (limit_.running == 0) {
    note_held_back(now);
    return 0;
  }
  const std::int64_t used = in_use();
  auto granted = static_cast<std::int64_t>(wanted);
  wishes_[0] = std::max(wishes_[0], used + granted);
  if (!knows(now)) {
    wanted_ = true;
    return 0;
  }
  if (limit_.running) {
    granted = std::clamp<std::int64_t>(seats_.usable() - used, 0, granted);
    if (granted == 0 && seats_.some_are_free(running_limit())) wanted_ = true;
  }
  if (limit_.per_second) {
    granted = std::min(granted, static_cast<std::int64_t>(starts_left(now) + kRoundingOfStarts));
    if (shares_.usable() == 0) wanted_ = true;
  }
  if (granted < static_cast<std::int64_t>(wanted)) {
    note_held_back(now);
  } else {
    held_since_ = Instant::min();
  }
  reserved_ += granted;
  return static_cast<std::size_t>(granted);
}

void Brake::keep(Instant now, std::size_t reserved, std::size_t claimed) {
  const std::lock_guard lock{mutex_};
  if (!limit_.any()) return;
  reserved_ = std::max<std::int64_t>(0, reserved_ - static_cast<std::int64_t>(reserved));
  if (claimed == 0 || !limit_.per_second || rate() == 0) return;
  empty_at_ = now - nanos((starts_left(now) - static_cast<double>(claimed)) / rate());
}

Instant Brake::next_start(Instant now) {
  const std::lock_guard lock{mutex_};
  if (!limit_.per_second || rate() == 0 || held_back_at_ == Instant::min() || now - held_back_at_ > kHolds) {
    return Instant::max();
  }
  const double missing = std::max(0.0, 1 - starts_left(now));
  return now + std::max<Instant::duration>(kBetweenStarts, std::chrono::ceil<Millis>(nanos(missing / rate())));
}

bool Brake::may_begin(Instant now) const {
  const std::lock_guard lock{mutex_};
  if (!limit_.running || alone_) return true;
  std::int64_t claimed = 0;
  for (const auto& one : handlers_) claimed += one->claimed;
  return now < lives_until_ && claimed <= seats_.ours();
}

bool Brake::may_renew(Instant now) const {
  const std::lock_guard lock{mutex_};
  return !limit_.running || alone_ || now < recent_until_;
}

std::optional<BrakeReport> Brake::announce(Instant now) {
  const std::lock_guard lock{mutex_};
  if (now >= lives_until_) seats_.lose();
  // More than the present need, so that a growing load does not have to ask again for each task.
  const std::int64_t wished = *std::ranges::max_element(wishes_);
  const std::int64_t busy = std::max(wished, in_use());
  if (wishes_since_ == Instant::min() || now - wishes_since_ >= kWishesOf) {
    std::shift_right(wishes_.begin(), wishes_.end(), 1);
    wishes_[0] = 0;
    wishes_since_ = now;
  }
  const bool wants_starts = limit_.per_second && wished > 0;
  BrakeReport report{.empty_at = empty_at_};
  if (limit_.running) {
    report.seats = seats_.announce(running_limit(), std::min(2 * busy, running_limit()), [this] { return in_use(); });
  }
  report.shares = shares_.announce(kShares, wants_starts ? kShares : 0, [] { return 0; });
  const bool nothing = busy == 0 && report.seats.seats == 0 && report.shares.seats == 0;
  return nothing ? std::nullopt : std::optional{report};
}

bool Brake::asks_for_more() const {
  const std::lock_guard lock{mutex_};
  return seats_.asks_for_more() || shares_.asks_for_more();
}

bool Brake::unsettled() const {
  const std::lock_guard lock{mutex_};
  return (limit_.running && seats_.unsettled(running_limit())) || (limit_.per_second && shares_.unsettled(kShares));
}

void Brake::heard(const Heard& when, const std::vector<BrakeReport>& others) {
  const std::lock_guard lock{mutex_};
  // The announcement before this one may have expired meanwhile.
  if (when.received >= lives_until_) {
    seats_.lose();
    shares_.lose();
  }
  std::vector<SeatReport> seats;
  std::vector<SeatReport> shares;
  for (const BrakeReport& other : others) {
    seats.push_back(other.seats);
    shares.push_back(other.shares);
  }
  const std::int64_t shares_before = shares_.usable();
  seats_.heard(running_limit(), std::move(seats), when.read_after);
  shares_.heard(kShares, std::move(shares), when.read_after);
  // An instance that takes over shares cannot repeat the starts that others have made with them.
  for (const BrakeReport& other : others) {
    if (shares_.usable() > shares_before) empty_at_ = std::max(empty_at_, other.empty_at);
  }
  answered_ = true;
  recent_until_ = when.sent + when.times.recent;
  lives_until_ = when.sent + when.times.lives - when.times.recent;  // clocks may differ in speed
}

void Brake::alone() {
  const std::lock_guard lock{mutex_};
  alone_ = true;
  seats_.have(running_limit());
  shares_.have(kShares);
}

Brake::View Brake::view() const {
  const std::lock_guard lock{mutex_};
  View view{limit_, in_use(), seats_.ours(), limit_.per_second ? rate() : 0};
  if (held_since_ != Instant::min()) view.held = held_since_;
  return view;
}

Reservation::Reservation(const Brakes& brakes, Instant now, std::size_t wanted)
    : brakes_(brakes), now_(now), room_(wanted) {
  for (const auto& brake : brakes_) reserved_.push_back(room_ = brake->reserve(now_, room_));
}

Reservation::~Reservation() {
  for (std::size_t i = 0; i < reserved_.size(); ++i) brakes_[i]->keep(now_, reserved_[i], claimed_);
}

void Reservation::claim(Holdings& holdings, std::size_t count) {
  holdings.claiming += static_cast<std::int64_t>(count);
  claimed_ = count;
}

}  // namespace easyretry::engine
