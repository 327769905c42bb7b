#pragma once
// The promises about time (docs/cluster.md), computed from the options of a crew.

#include <algorithm>

#include "cluster/members.h"
#include "cluster/membership.h"
#include "fault/load.h"

namespace easyretry::fault {

inline constexpr Millis kWindow{1000};  // of kill_worker

// While a new list of members spreads. Until then the old owner of a shard stands by for it.
inline Millis handover(const cluster::Membership::Traits& traits) {
  return traits.refresh + std::min(cluster::Debounce{}.shrinking, traits.death_timeout / 2);
}

// Until the others know that an instance is silent, and have divided its shards.
inline Millis detection(const cluster::Membership::Traits& traits) {
  return traits.death_timeout + handover(traits);
}

// Until they have taken over its running tasks, give or take the round of load that shows it.
inline Millis takeover(Millis lease, Millis detection, Millis between_rounds = SteadyLoad::kBetweenRounds) {
  return lease + kWindow / 2 + detection + 2 * between_rounds;
}

}  // namespace easyretry::fault
