#pragma once
// From a list of instances to the nodes of a cluster that are to be reckoned with.

#include <cstdint>
#include <string>
#include <vector>

#include "nacos/instance.h"

namespace easyretry::nacos {

// Who an instance is. An address is not enough: a process that starts again has the same.
struct Node {
  std::string id;
  std::int64_t epoch = 0;  // grows with each start of the process: milliseconds since 1970
  std::string version{};

  friend bool operator==(const Node&, const Node&) = default;
};

bool takes_traffic(const Instance& instance);
// Without an id: somebody else's.
Node node_of(const Instance& instance);

// As metadata: "nodeId", "epoch" and "version".
void describe(Instance& instance, const Node& node);

struct Member {
  Node node;
  Instance instance;

  friend bool operator==(const Member&, const Member&) = default;
};

// Those that take traffic, each node once, sorted by id. Of two with one id the newer epoch is alive: the other is the
// connection of a process that has died, which the server has not noticed yet. Instances without an id are left out.
std::vector<Member> members_of(const ServiceView& view);

}  // namespace easyretry::nacos
