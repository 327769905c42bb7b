#pragma once
// The address of a Nacos server, as people write it: host:8848, http://host:8848/nacos, https://[::1]:8848.

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/random.h"

namespace easyretry::nacos {

inline constexpr int kHttpPort = 8848;
inline constexpr int kGrpcPortOffset = 1000;

struct ServerAddress {
  std::string host;
  int port = kHttpPort;            // for HTTP
  int grpc_port = 0;               // 0: port + 1000, the default of servers; set it behind NAT or a load balancer
  bool https = false;              // instead of HTTP
  std::string context = "/nacos";  // prefix of all HTTP paths

  friend bool operator==(const ServerAddress&, const ServerAddress&) = default;
};

// "10.0.0.7:8848"; an IPv6 address is in brackets.
std::string to_string(const ServerAddress& server);
std::string grpc_target(const ServerAddress& server);
std::string http_url(const ServerAddress& server, std::string_view path);

// One or several, separated by commas. Throws std::invalid_argument with the part that is invalid.
std::vector<ServerAddress> parse_servers(std::string_view text);

// The address of this machine that the server would see, without NAT between them; 127.0.0.1 if there is no route.
// Sends nothing and asks no name server: if the host is a name, it is the address towards the Internet.
std::string local_ip_towards(const ServerAddress& server);

// Chooses the next server. For one thread.
class ServerList {
 public:
  // Starts at a random place, so that clients spread over the servers.
  ServerList(std::vector<ServerAddress> servers, base::Random& random)
      : servers_(std::move(servers)), next_(random.below(servers_.size())) {}

  std::size_t size() const { return servers_.size(); }

  const ServerAddress& next() {
    const ServerAddress& server = servers_[next_];
    next_ = (next_ + 1) % servers_.size();
    return server;
  }

  // Makes this host the next one, if it is in the list. Other hosts that a server names are not trusted.
  void prefer(std::string_view host) {
    for (std::size_t i = 0; i < servers_.size(); ++i) {
      if (servers_[i].host == host) next_ = i;
    }
  }

 private:
  const std::vector<ServerAddress> servers_;
  std::size_t next_;
};

}  // namespace easyretry::nacos
