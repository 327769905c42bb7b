#include "alert/counters.h"

#include <algorithm>
#include <utility>

namespace easyretry::alert {

bool Tally::add(Sample sample, Instant now) {
  if (count_ == 0 || expired(now)) {
    count_ = 0;
    samples_.clear();
    first_ = now;
  }
  ++count_;
  if (samples_.size() < static_cast<std::size_t>(rule_.samples)) samples_.push_back(std::move(sample));
  if (due_ || count_ < threshold_) return false;
  due_ = std::max(now + rule_.wait, quiet_until_);
  return true;
}

void Tally::take(Message& message, Instant now) {
  message.count = std::exchange(count_, 0);
  message.samples = std::exchange(samples_, {});
  message.within = std::chrono::duration_cast<Millis>(now - first_);
  due_.reset();
  quiet_until_ = now + rule_.window;
}

bool Tally::over(Instant now) const {
  return now >= quiet_until_ && (count_ == 0 || expired(now));
}

bool Level::update(bool too_high, bool fine, Instant now) {
  const bool next = too_high_ ? !fine : too_high;
  if (next == too_high_) return false;
  since_ = now;
  too_high_ = next;
  return true;
}

std::optional<Instant> Level::due() const {
  if (too_high_ == reported_) return std::nullopt;
  return too_high_ ? std::max(since_, quiet_until_) : since_;
}

void Level::take(Instant now) {
  reported_ = too_high_;
  if (reported_) quiet_until_ = now + window_;
}

void AttemptCounter::add(bool failed, Instant now) {
  const std::int64_t number = number_at(now);
  Part& part = parts_[static_cast<std::size_t>(number % kParts)];
  if (part.number != number) part = {number, {}};
  ++part.count.all;
  if (failed) ++part.count.failed;
}

AttemptCounter::Count AttemptCounter::within_window(Instant now) const {
  const std::int64_t too_old = number_at(now) - kParts;
  Count sum;
  for (const auto& [number, count] : parts_) {
    if (number <= too_old) continue;
    sum.all += count.all;
    sum.failed += count.failed;
  }
  return sum;
}

}  // namespace easyretry::alert
