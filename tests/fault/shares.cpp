#include "fault/shares.h"

#include <algorithm>
#include <iostream>

#include <gmock/gmock.h>

#include "support/eventually.h"

namespace easyretry::fault {
namespace {

constexpr std::chrono::seconds kLong{90};  // a registry misses a silent process after 28 s, and takes 30 s to start

// From "16: every 4th from 0"; ascending.
std::vector<int> shares_of(const std::vector<Member>& members) {
  std::vector<int> shares;
  for (const Member& member : members) {
    shares.push_back(member.says == "none" || member.says.empty() ? 0 : std::stoi(member.says));
  }
  std::sort(shares.begin(), shares.end());
  return shares;
}

std::vector<int> equal_shares(int members) {
  std::vector<int> equal(static_cast<std::size_t>(members), kShards / members);
  for (int i = 0; i < kShards % members; ++i) ++equal[equal.size() - 1 - static_cast<std::size_t>(i)];
  return equal;
}

}  // namespace

Roster members_in(storage::Store& store) {
  return [&store] { return store.members("default").value().members; };
}

Millis expect_equal_shares(int members, const Roster& roster, const std::string& what) {
  const auto took = test::time_until([&] { return shares_of(roster()) == equal_shares(members); }, kLong);
  EXPECT_TRUE(took) << what << ": " << members << " members have " << ::testing::PrintToString(shares_of(roster()));
  const Millis time = took.value_or(kLong);
  std::cout << what << ": " << time.count() << " ms until " << members << " have equal shares\n";
  return time;
}

}  // namespace easyretry::fault
