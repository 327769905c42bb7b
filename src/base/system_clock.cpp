#include <thread>

#include <easyretry/time.h>

#include "base/pause_clock.h"

namespace easyretry {
namespace {

class SystemClock final : public Clock {
 public:
  TimePoint now() const override { return std::chrono::floor<Millis>(std::chrono::system_clock::now()); }
  Instant steady() const override { return std::chrono::steady_clock::now(); }
};

class SystemPauses final : public base::PauseClock {
 public:
  Instant now() const override { return std::chrono::steady_clock::now(); }
  void sleep(std::chrono::nanoseconds time) const override { std::this_thread::sleep_for(time); }
};

}  // namespace

const Clock& system_clock() {
  static const SystemClock clock;
  return clock;
}

const base::PauseClock& base::system_pauses() {
  static const SystemPauses clock;
  return clock;
}

}  // namespace easyretry
