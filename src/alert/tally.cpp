#include "alert/tally.h"

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

}  // namespace easyretry::alert
