#pragma once
// Who the members are, for somebody who looks and is none.

#include <string>

#include "cluster/membership.h"
#include "cluster/open_membership.h"

namespace easyretry::cluster {

struct Sighting {
  Roll roll;
  std::string source;  // for people: "store", "nacos 10.0.0.7:8848, DEFAULT_GROUP@@orders"
  Millis age{};        // since the source gave the list
  TimePoint now{};     // by the clock that members' `since` is of
};

// May take as long as the network does: with a registry 10 s at most.
Result<Sighting> look(const MembershipChoice& choice, storage::Store& store, const std::string& space);

}  // namespace easyretry::cluster
