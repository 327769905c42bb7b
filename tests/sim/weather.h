#pragma once
// The state of the way between the processes and the store: what becomes of a call made now.

#include <map>
#include <string_view>
#include <vector>

#include <easyretry/cluster.h>

#include "sim/scenario.h"

namespace easyretry::sim {

class Weather {
 public:
  // The most by which a request that was given up can be carried out late.
  static constexpr Time kLatest = std::chrono::seconds{10};

  enum class Fate { fine, slow, unavailable, request_lost, late, reply_lost, death_before, death_after };

  Weather(const Scheduler& scheduler, Dice& dice, const Scenario& scenario)
      : scheduler_(scheduler), dice_(dice), faults_(scenario.calls), slowest_(scenario.slowest) {}

  Fate fate_of_call(int instance);
  Time one_way();  // for a request or a reply
  Time slow_way();
  Time time_out();  // until an unreachable store is given up
  Time late_by();   // until a request that was given up is carried out after all

  // Changes the list of members that an instance gets: while lists are wrong, to any list that a source could return by
  // mistake. True: it was changed.
  bool mix_up(std::vector<Member>& list, std::string_view self);

  void lists_wrong_until(Time until) { lists_wrong_until_ = std::max(lists_wrong_until_, until); }
  void store_down_until(Time until) { down_until_ = std::max(down_until_, until); }
  void cut_off_until(int instance, Time until);
  Time clears_at() const;  // when outages and partitions known now are over
  // Nothing is injected any more.
  void calm_down() { calm_ = true; }

 private:
  const Scheduler& scheduler_;
  Dice& dice_;
  const CallFaults faults_;
  const Time slowest_;
  Time down_until_{0};
  Time lists_wrong_until_{0};
  std::vector<Member> once_seen_;  // every member that was ever in a list
  std::map<int, Time> cut_off_until_;
  bool calm_ = false;
};

}  // namespace easyretry::sim
