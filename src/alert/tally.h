#pragma once
// What is told once for many: tasks of one handler that ended badly. One thread.
//
//   first … threshold reached ──wait──▶ due ──taken──▶ quiet for a window, counting ──▶ due again, if reached again
//
// A message that cannot go yet, for want of room in its channel, goes on counting: nothing queues up.

#include <cstdint>
#include <optional>
#include <vector>

#include <easyretry/alerts.h>
#include <easyretry/time.h>

#include "alert/message.h"

namespace easyretry::alert {

class Tally {
 public:
  // The rule outlives it. `threshold`: so many within a window, which begins with the first of them.
  Tally(const AlertRule& rule, int threshold) : rule_(rule), threshold_(static_cast<std::uint64_t>(threshold)) {}

  // True: this one made it due.
  bool add(Sample sample, Instant now);

  std::optional<Instant> due() const { return due_; }
  // What is due later is due now.
  void hurry(Instant now) {
    if (due_) due_ = now;
  }
  // What was counted, into the message; nothing more before the window is over.
  void take(Message& message, Instant now);
  // There is nothing left to tell or to hold back.
  bool over(Instant now) const;

 private:
  bool expired(Instant now) const { return !due_ && now >= first_ + rule_.window; }

  const AlertRule& rule_;
  const std::uint64_t threshold_;
  std::uint64_t count_ = 0;
  std::vector<Sample> samples_;
  Instant first_{};
  std::optional<Instant> due_;
  Instant quiet_until_ = Instant::min();
};

}  // namespace easyretry::alert
