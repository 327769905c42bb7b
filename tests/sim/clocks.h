#pragma once
// The store's clock is the world's time. Each process has clocks of its own, which are wrong: the wall clock by up to
// an hour, the steady one by where it started and by how fast it runs.

#include <easyretry/time.h>

#include "sim/scheduler.h"

namespace easyretry::sim {

inline constexpr TimePoint kWorldBegan{std::chrono::sys_days{std::chrono::year{2025} / 1 / 1}};

class StoreClock final : public Clock {
 public:
  explicit StoreClock(const Scheduler& scheduler) : scheduler_(scheduler) {}
  TimePoint now() const override { return kWorldBegan + std::chrono::floor<Millis>(scheduler_.now()); }
  Instant steady() const override { return Instant{scheduler_.now()}; }

 private:
  const Scheduler& scheduler_;
};

struct ClockErrors {
  Millis wall{0};
  Time steady{0};
  std::int64_t drift_ppm = 0;  // parts in a million that the steady clock runs fast
};

class ProcessClock final : public Clock {
 public:
  ProcessClock(const Scheduler& scheduler, ClockErrors errors) : scheduler_(scheduler), errors_(errors) {}

  TimePoint now() const override { return kWorldBegan + errors_.wall + std::chrono::floor<Millis>(scheduler_.now()); }
  Instant steady() const override { return Instant{errors_.steady + drifted(scheduler_.now())}; }

  // The first moment of the world at which steady() has reached `instant`.
  Time when(Instant instant) const {
    if (instant == Instant::max()) return Time::max();
    if (instant <= steady()) return scheduler_.now();
    const Time local = instant.time_since_epoch() - errors_.steady;
    Time world = local - local * errors_.drift_ppm / (1'000'000 + errors_.drift_ppm);
    while (drifted(world) < local) ++world;
    return world;
  }

 private:
  Time drifted(Time world) const { return world + world * errors_.drift_ppm / 1'000'000; }

  const Scheduler& scheduler_;
  const ClockErrors errors_;
};

}  // namespace easyretry::sim
