#pragma once
// What is promised about time (docs/cluster.md), computed from the options of a crew.

#include <algorithm>

#include "cluster/members.h"
#include "cluster/membership.h"
#include "fault/load.h"

namespace easyretry::fault {

inline constexpr Millis kWindow{1000};  // of kill_worker

// While a new list of members spreads. Until then the old owner of a shard stands by for it.
inline Millis handover(const cluster::Membership::Traits& traits) {
  return traits.refresh + std::min(cluster::Patience{}.shrinking, traits.notices_death / 2);
}

// Until the others know that somebody is silent, and have divided its shards.
inline Millis detection(const cluster::Membership::Traits& traits) {
  return traits.notices_death + handover(traits);
}

// Until they have what it was running, give or take a round of the load by which that is seen.
inline Millis takeover(Millis lease, Millis detection) {
  return lease + kWindow / 2 + detection + 2 * SteadyLoad::kBetweenRounds;
}

}  // namespace easyretry::fault
