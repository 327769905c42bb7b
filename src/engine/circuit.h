#pragma once
// A circuit counts how attempts against one downstream end, and says how many may start.
//
//   closed ──mostly failures──► open ──a window in which it held nothing back, and mostly answers──► closed
//
// While it is closed there is no limit. While it is open, it allows `probes` attempts per second, and more in
// proportion to the answers of the last window. So a downstream that is down gets a probe a second; one that is back
// gets about five times as much every ten seconds; and one that answers half of the calls is not called more often.
// Tasks that it holds back stay in the store as they are: no attempt is used up.
//
// A refusal counts as an answer: only failures worth a retry and timeouts count as failures.
//
// Instances that share a store exchange reports every second (circuit_watch.h). Each judges by the sums of all of them,
// the newest change of state wins, and those that have tasks to start share the starts.

#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <easyretry/options.h>
#include <easyretry/stats.h>

#include "engine/retry_budget.h"

namespace easyretry::engine {

struct AnswerSums {
  std::uint64_t answered = 0;
  std::uint64_t failed = 0;

  std::uint64_t total() const { return answered + failed; }
  AnswerSums& operator+=(const AnswerSums& other) {
    answered += other.answered;
    failed += other.failed;
    return *this;
  }
  friend AnswerSums operator-(const AnswerSums& a, const AnswerSums& b) {
    return {a.answered - b.answered, a.failed - b.failed};
  }
  bool fails_more_than(double share) const {
    return static_cast<double>(failed) > share * static_cast<double>(total());
  }
};

// How attempts ended, by second, for the last minute.
class AnswerWindow {
 public:
  static constexpr std::int64_t kSeconds = 61;

  void add(Instant now, bool answered) { add(now, answered ? AnswerSums{1, 0} : AnswerSums{0, 1}); }
  void add(Instant now, AnswerSums sums);
  // The sum over the seconds that began after `from`, up to now.
  AnswerSums since(Instant from) const;

 private:
  struct Second {
    std::int64_t number = -1;
    AnswerSums sums{};
  };
  std::array<Second, kSeconds> ring_{};
};

// The announcement of an instance about one circuit, for the other instances.
struct CircuitReport {
  Instant made{};
  CircuitState state = CircuitState::closed;
  Instant since = Instant::min();         // of the last change; min: it was never open
  Instant held_back_at = Instant::min();  // when it last held a task back
  Instant rest_until = Instant::min();
  std::vector<AnswerSums> seconds{};  // this second, the one before, and so on
};

// Thread-safe.
class Circuit {
 public:
  explicit Circuit(CircuitOptions options) : options_(std::move(options)) {
    retries_.set(options_.retries_at_most, options_.probes);
  }

  void set(const CircuitOptions& options);
  CircuitOptions options() const;

  // An attempt has ended: it was answered, or failed.
  void record(Instant now, bool answered);
  // The called service asked for a pause, such as by Retry-After: the circuit opens, and only probes start until the
  // pause ends. Ten minutes at most.
  void rest(Instant now, Millis time);
  // An operator's order, in force until it ends: nothing starts (open), or nothing is held back (closed).
  struct Order {
    CircuitState state = CircuitState::open;
    Instant since{};
    Instant until = Instant::max();
  };
  // Replaces the last order; nullopt: the circuit decides by itself. When an order to be open ends, the circuit is open
  // like any other, so the backlog comes in steps.
  void obey(Instant now, std::optional<Order> order);
  // How many of `wanted` may start now; they count as started.
  std::size_t reserve(Instant now, std::size_t wanted);
  // Whether one may start now.
  bool has_room(Instant now);
  // When the next one may start; max if it holds nothing back.
  Instant next_start(Instant now);

  // Whether it is open or closed, its budget may hold retries back.
  RetryBudget& retries() { return retries_; }
  // As RetryBudget::room, but all of them while an operator has ordered it to hold nothing back.
  std::size_t room_for_retries(Instant now, std::size_t wanted);

  // Whether it knows enough about the other instances to allow starts. If not, want() makes the CircuitWatch ask.
  bool is_known(Instant now) const { return now < known_until_.load(); }
  void want() { wanted_ = true; }
  bool take_wanted() { return wanted_.exchange(false); }
  bool was_known() const { return known_until_.load() != Instant::min(); }
  void rely_until(Instant until) { known_until_ = until; }

  // nullopt: nothing has happened for so long that the others need no report.
  std::optional<CircuitReport> report(Instant now) const;
  // Replaces what is known about the other instances.
  void learn(Instant now, std::span<const CircuitReport> others);

  struct View {
    CircuitState state;
    Instant since;
    AnswerSums sums;                            // of the last window
    std::optional<double> starts_per_second{};  // while it is open
    bool ordered = false;                       // by an operator
  };
  View view(Instant now);
  // Opened or closed since the last call: its new state.
  std::optional<CircuitState> take_change(Instant now);

 private:
  void judge(Instant now);
  bool ordered(Instant now) const { return order_ && now < order_->until; }
  void turn(CircuitState state, Instant since);
  AnswerSums since(Instant from) const;
  double rate(Instant now) const;
  void refill(Instant now);
  AnswerSums sums(Instant now) const;

  RetryBudget retries_;
  std::atomic<Instant> known_until_{Instant::min()};
  std::atomic<bool> wanted_{false};
  mutable std::mutex mutex_;
  // Guarded by mutex_
  CircuitOptions options_;
  AnswerWindow here_;
  AnswerWindow others_;
  double share_ = 1;  // of the starts, for this instance
  CircuitState state_ = CircuitState::closed;
  Instant since_ = Instant::min();
  Instant held_back_at_ = Instant::min();         // by this instance
  Instant others_held_back_at_ = Instant::min();  // by any other
  Instant rest_until_ = Instant::min();
  std::optional<Order> order_{};
  Instant refilled_at_ = Instant::min();
  double tokens_ = 0;
  std::optional<CircuitState> change_{};
};

}  // namespace easyretry::engine
