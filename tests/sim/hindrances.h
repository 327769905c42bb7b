#pragma once
// What has kept the processes from doing their work, and until when: the excuses that the checker accepts.

#include <map>

#include "sim/journal.h"
#include "sim/scenario.h"
#include "sim/weather.h"

namespace easyretry::sim {

class Hindrances {
 public:
  explicit Hindrances(const Scenario& scenario) : longest_call_(std::chrono::ceil<Millis>(2 * scenario.slowest)) {}

  void note(int instance, TimePoint now, const Died&) { died_[instance] = now; }
  void note(int instance, TimePoint, const Paused& e) {
    paused_until_[instance] = std::max(paused_until_[instance], e.until);
  }
  void note(int instance, TimePoint now, const Hit& e) {
    switch (e.fault) {
      case Fault::slow: slow_until_[instance] = now + longest_call_; return;
      case Fault::late: late_until_[instance] = now + std::chrono::ceil<Millis>(Weather::kLatest); return;
      default: failed_[instance] = now; return;
    }
  }

  // Whether it was so at `from` or after it.
  bool died(int instance, TimePoint from) const { return reaches(died_, instance, from); }
  bool stopped(int instance, TimePoint from) const {
    return reaches(paused_until_, instance, from) || reaches(slow_until_, instance, from);
  }
  bool cut_off(int instance, TimePoint from) const { return reaches(failed_, instance, from); }
  bool late_call(int instance, TimePoint from) const { return reaches(late_until_, instance, from); }

 private:
  using Times = std::map<int, TimePoint>;  // by instance; the last one
  static bool reaches(const Times& times, int instance, TimePoint from) {
    const auto found = times.find(instance);
    return found != times.end() && found->second >= from;
  }

  const Millis longest_call_;
  Times died_, paused_until_, slow_until_, late_until_, failed_;
};

}  // namespace easyretry::sim
