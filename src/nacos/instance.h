#pragma once
// What naming is about: services and the instances that offer them.

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
  std::map<std::string, std::string> metadata{};  // 1024 characters in all, keys and values

  friend bool operator==(const Instance&, const Instance&) = default;
};

// All instances of a service, as one server saw them. Two servers may differ for seconds, and right after a new
// connection, or a restart of the server, instances may be missing that are alive: their clients still have to come
// back.
struct ServiceView {
  ServiceName service;
  std::vector<Instance> instances{};    // sorted by ip, port and cluster
  std::uint64_t connection = 0;         // Status::connection that it came by
  bool protected_by_threshold = false;  // the server shows the unhealthy as healthy, because too few would be left
};

using OnView = std::function<void(const ServiceView&)>;

}  // namespace easyretry::nacos
