#pragma once
// The values of naming and configuration: services, their instances, the nodes of a cluster, and names of
// configurations.

#include <compare>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace easyretry::nacos {

// Within the client's namespace.
struct ServiceName {
  std::string name;
  std::string group = "DEFAULT_GROUP";

  friend auto operator<=>(const ServiceName&, const ServiceName&) = default;
};

std::string to_string(const ServiceName& service);  // "DEFAULT_GROUP@@orders"

struct Instance {
  std::string ip;
  int port = 0;
  double weight = 1;  // 0: takes no traffic
  bool healthy = true;
  bool enabled = true;
  std::string cluster = "DEFAULT";                // a label inside the service
  std::map<std::string, std::string> metadata{};  // at most 1024 characters, keys and values together

  friend bool operator==(const Instance&, const Instance&) = default;
};

// All instances of a service, as one server saw them. Two servers may differ for seconds. Right after a new connection
// or a restart of the server, live instances may be missing, because their clients have not reconnected yet.
struct ServiceView {
  ServiceName service;
  std::vector<Instance> instances{};  // sorted by ip, port and cluster
  std::uint64_t connection = 0;       // the Status::connection over which it came
  // The server reports unhealthy instances as healthy, because too few healthy ones are left.
  bool protected_by_threshold = false;
};

using OnView = std::function<void(const ServiceView&)>;

// Within the client's namespace.
struct ConfigKey {
  std::string data_id;
  std::string group = "DEFAULT_GROUP";

  friend auto operator<=>(const ConfigKey&, const ConfigKey&) = default;
};

// The identity of an instance. An address is not enough: a restarted process has the same one.
struct Node {
  std::string id;
  std::int64_t epoch = 0;  // grows with each start of the process: milliseconds since 1970
  std::string version{};

  friend bool operator==(const Node&, const Node&) = default;
};

bool takes_traffic(const Instance& instance);
// An empty id: the instance is not ours.
Node node_of(const Instance& instance);

// Sets the metadata "nodeId", "epoch" and "version".
void describe(Instance& instance, const Node& node);

struct Member {
  Node node;
  Instance instance;

  friend bool operator==(const Member&, const Member&) = default;
};

// The instances that take traffic, each node once, sorted by id. Of two with the same id, the one with the newer epoch
// is alive: the other is the connection of a dead process that the server has not noticed yet. Instances without an id
// are left out.
std::vector<Member> members_of(const ServiceView& view);

}  // namespace easyretry::nacos
