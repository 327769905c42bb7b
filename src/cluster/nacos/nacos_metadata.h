#pragma once
// The metadata that an instance writes about itself into Nacos, and how a list from Nacos is read. Pure.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <easyretry/cluster.h>

#include "cluster/membership.h"
#include "cluster/registry.h"
#include "nacos/instance.h"

namespace easyretry::cluster {

struct InstanceInfo {
  std::string node;
  TimePoint since{};
  std::string says{};
  std::optional<std::vector<std::string>> handlers{};  // as in Member
};

// A server rejects metadata with more characters than this, keys and values together.
inline constexpr std::size_t kMostMetadata = 1024;

// Sets the metadata of the instance: nodeId, epoch, version, space, totalShards, shards, and handlers if they fit.
// Returns false if they do not.
bool write_metadata(nacos::Instance& instance, const SharedSettings& settings, const InstanceInfo& self);

// Each node appears once. An instance that takes no traffic is left out; one with other settings, or of another
// program, is refused.
MemberList read_members(const nacos::ServiceView& view, const SharedSettings& settings);

// After an outage of the registry, or of the network, members register again one by one. So for a while after a new
// connection, members of the last list are assumed to be still alive.
//
// For one thread at a time. Times are parameters, so tests need no clock.
class RejoinGrace {
 public:
  explicit RejoinGrace(Millis grace) : grace_(grace) {}

  // The list to use. `connection` is a different number for each connection.
  std::vector<Member> list(std::vector<Member> reported, std::uint64_t connection, Instant now);

 private:
  const Millis grace_;
  std::vector<Member> last_;  // the last list that was returned
  std::uint64_t connection_ = 0;
  std::vector<Member> before_;  // the last list of the previous connection
  Instant until_ = Instant::min();
};

}  // namespace easyretry::cluster
