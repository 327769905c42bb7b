#pragma once
// Where a Nacos server is, as people write it: host:8848, http://host:8848/nacos, https://[::1]:8848.

#include <string>
#include <string_view>
#include <vector>

namespace easyretry::nacos {

inline constexpr int kHttpPort = 8848;
inline constexpr int kGrpcPortOffset = 1000;

struct ServerAddress {
  std::string host;
  int port = kHttpPort;            // of HTTP
  int grpc_port = 0;               // 0: port + 1000, as servers choose it; say another behind NAT or a load balancer
  bool https = false;              // instead of HTTP
  std::string context = "/nacos";  // before the paths of HTTP

  friend bool operator==(const ServerAddress&, const ServerAddress&) = default;
};

// "10.0.0.7:8848"; an IPv6 address is in brackets.
std::string to_string(const ServerAddress& server);
std::string grpc_target(const ServerAddress& server);
std::string http_url(const ServerAddress& server, std::string_view path);

// One or several, separated by commas. Throws std::invalid_argument naming what cannot be read.
std::vector<ServerAddress> parse_servers(std::string_view text);

}  // namespace easyretry::nacos
