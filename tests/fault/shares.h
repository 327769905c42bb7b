#pragma once
// How many shards each member says that it has, as seen from outside.

#include <functional>
#include <string>
#include <vector>

#include <easyretry/cluster.h>

#include "storage/store.h"

namespace easyretry::fault {

inline constexpr int kShards = 64;

using Roster = std::function<std::vector<Member>()>;
Roster members_in(storage::Store& store);

// Waits until so many members have equal shares, and prints how long that took after `what`. Fails the test if they
// never have.
Millis expect_equal_shares(int members, const Roster& roster, const std::string& what);

}  // namespace easyretry::fault
