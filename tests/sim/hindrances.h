#pragma once
// The faults that kept processes from their work, and until when: excuses that the checker accepts.

#include <map>

#include "sim/journal.h"
#include "sim/weather.h"

namespace easyretry::sim {

class Hindrances {
 public:
  void note(int instance, TimePoint now, const Died&) { died_[instance] = now; }
  // A call in progress takes that much longer.
  void note(int instance, TimePoint now, const Paused& e) {
    const Millis longer = e.until - std::max(now, paused_until_[instance]);
    for (Times* times : {&call_until_, &renewing_until_, &claiming_until_}) {
      if (longer > Millis{0} && (*times)[instance] > now) (*times)[instance] += longer;
    }
    paused_until_[instance] = std::max(paused_until_[instance], e.until);
  }
  void note(int instance, TimePoint now, const Hit& e) {
    if (e.fault == Fault::late) late_until_[instance] = now + std::chrono::ceil<Millis>(Weather::kLatest);
    call_until_[instance] = std::max(call_until_[instance], e.until);
    if (e.verb == "claim" || e.verb == "paused")
      claiming_until_[instance] = std::max(claiming_until_[instance], e.until);
    if (e.verb == "renew") renewing_until_[instance] = std::max(renewing_until_[instance], e.until);
  }

  // Whether it was so at `from` or after it.
  bool died(int instance, TimePoint from) const { return reaches(died_, instance, from); }
  bool paused(int instance, TimePoint from) const { return reaches(paused_until_, instance, from); }
  // In a store call that failed or took long; it has one thread to renew leases, which then does nothing else.
  bool kept_waiting(int instance, TimePoint from) const { return reaches(call_until_, instance, from); }
  bool kept_from_renewing(int instance, TimePoint from) const { return reaches(renewing_until_, instance, from); }
  // In a claim, or in asking which handlers are paused.
  bool kept_from_claiming(int instance, TimePoint from) const { return reaches(claiming_until_, instance, from); }
  // A request that it has given up may still be executed.
  bool late_call(int instance, TimePoint from) const { return reaches(late_until_, instance, from); }

 private:
  using Times = std::map<int, TimePoint>;  // by instance; the last one
  static bool reaches(const Times& times, int instance, TimePoint from) {
    const auto found = times.find(instance);
    return found != times.end() && found->second >= from;
  }

  Times died_, paused_until_, call_until_, renewing_until_, claiming_until_, late_until_;
};

}  // namespace easyretry::sim
