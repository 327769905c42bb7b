#pragma once
// The counters behind the rules. They take the time as a parameter and belong to one thread.

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include <easyretry/config.h>
#include <easyretry/time.h>

#include "alert/message.h"

namespace easyretry::alert {

// Counts the tasks of one handler that failed or were quarantined, so that one message reports many.
//
//   first … threshold reached ──wait──▶ due ──taken──▶ quiet for a window, counting ──▶ due again, if reached again
//
// If a message cannot be sent yet, because its channel has reached its rate limit, counting goes on: nothing queues up.
class Tally {
 public:
  // The rule outlives it. The threshold must be reached within a window, which begins with the first task.
  Tally(const AlertRule& rule, int threshold) : rule_(rule), threshold_(static_cast<std::uint64_t>(threshold)) {}

  // True if this task made a message due.
  bool add(Sample sample, Instant now);

  std::optional<Instant> due() const { return due_; }
  // Makes a message due now that would be due later.
  void skip_wait(Instant now) {
    if (due_) due_ = now;
  }
  // Moves the counts into the message; the next message is due after the window at the earliest.
  void take(Message& message, Instant now);
  // True if there is nothing left to report or to hold back.
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

// A value that is too high or back to normal; each change is reported once. It is back to normal only well below the
// limit (at half of it), so that a value that swings around the limit does not cause messages all the time. "Too high"
// is reported at most once per window.
class Level {
 public:
  explicit Level(Millis window) : window_(window) {}

  // If the value is neither too high nor fine, the level stays as it was. True if it has changed.
  bool update(bool too_high, bool fine, Instant now);

  std::optional<Instant> due() const;
  bool too_high() const { return too_high_; }
  // The current level has been reported.
  void take(Instant now);
  bool over(Instant now) const { return !too_high_ && !reported_ && now >= quiet_until_; }

 private:
  const Millis window_;
  bool too_high_ = false;
  bool reported_ = false;  // the last message said that it is too high
  Instant since_{};
  Instant quiet_until_ = Instant::min();
};

// How many of a handler's attempts have failed within the window: counts in ten parts of the window, of which the
// oldest is dropped.
class AttemptCounter {
 public:
  struct Count {
    std::uint64_t all = 0;
    std::uint64_t failed = 0;
  };

  explicit AttemptCounter(Millis window) : part_(window / kParts) {}

  void add(bool failed, Instant now);
  Count within_window(Instant now) const;

 private:
  static constexpr int kParts = 10;
  struct Part {
    std::int64_t number = 0;  // since the epoch of the clock
    Count count{};
  };

  std::int64_t number_at(Instant now) const { return now.time_since_epoch() / part_; }

  const Millis part_;
  std::array<Part, kParts> parts_{};  // part n is at n % kParts
};

// Limits the messages in any minute.
class RateLimit {
 public:
  explicit RateLimit(int per_minute) : most_(static_cast<std::size_t>(per_minute)) {}

  // When the next message may be sent; at once if that is now or earlier.
  Instant free_at() const { return taken_.size() < most_ ? Instant::min() : taken_.front() + kMinute; }

  void take(Instant now) {
    if (taken_.size() >= most_) taken_.pop_front();
    taken_.push_back(now);
  }

 private:
  static constexpr Millis kMinute{60'000};

  const std::size_t most_;
  std::deque<Instant> taken_;  // the last ones, the oldest first
};

}  // namespace easyretry::alert
