#pragma once
// How many shards each member says that it has.

#include <algorithm>
#include <string>
#include <vector>

#include <easyretry/cluster.h>

namespace easyretry::fault {

inline constexpr int kShards = 64;

// From "16: every 4th from 0"; ascending.
inline std::vector<int> shares_of(const std::vector<Member>& members) {
  std::vector<int> shares;
  for (const Member& member : members) {
    shares.push_back(member.says == "none" || member.says.empty() ? 0 : std::stoi(member.says));
  }
  std::sort(shares.begin(), shares.end());
  return shares;
}

inline std::vector<int> equal_shares(int processes) {
  std::vector<int> equal(static_cast<std::size_t>(processes), kShards / processes);
  for (int i = 0; i < kShards % processes; ++i) ++equal[equal.size() - 1 - static_cast<std::size_t>(i)];
  return equal;
}

}  // namespace easyretry::fault
