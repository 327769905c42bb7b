#pragma once
// How many retries the handlers of a circuit may start on this instance. Each first attempt earns a part of a retry, so
// that retries are at most a share of all starts; what is not used within ten seconds is lost. A few retries per second
// may start in any case, so that those of a handler without new tasks do not wait for ever. Decision 70.

#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>

#include <easyretry/time.h>

namespace easyretry::engine {

// Thread-safe.
class RetryBudget {
 public:
  // `share`: of all starts; nullopt: there is no budget. `per_second`: the retries that may start besides.
  void set(std::optional<double> share, double per_second);
  bool is_set() const { return is_set_.load(std::memory_order_relaxed); }

  // A first attempt begins.
  void earn(Instant now);
  // How many of `wanted` retries may start now.
  std::size_t room(Instant now, std::size_t wanted);
  // Retries start, within the room or not.
  void spend(Instant now, std::size_t retries);
  // When to ask again; max if no retry was held back lately.
  Instant next_start(Instant now);
  // Since when it has held retries back; nullopt: the last ones that were asked for may start.
  std::optional<Instant> held_since() const;
  // For now no retry is held back.
  void lift();

 private:
  static constexpr std::int64_t kSeconds = 10;

  // All under mutex_
  void refill(Instant now);
  double balance(Instant now);

  struct Earned {
    std::int64_t second = -1;
    double retries = 0;
  };

  std::atomic<bool> is_set_{false};
  mutable std::mutex mutex_;
  // Guarded by mutex_
  double worth_ = 0;  // of a first attempt, in retries
  double per_second_ = 0;
  std::array<Earned, kSeconds> earned_{};
  double free_ = 0;  // of those per second, not yet started
  Instant refilled_at_ = Instant::min();
  Instant held_back_at_ = Instant::min();
  Instant held_since_ = Instant::min();  // min: the last ones may start
};

}  // namespace easyretry::engine
