#include "nacos/server_address.h"

#include <charconv>
#include <memory>
#include <stdexcept>

#include <arpa/inet.h>
#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>

namespace easyretry::nacos {
namespace {

[[noreturn]] void refuse(std::string_view text, const std::string& why) {
  throw std::invalid_argument("nacos server \"" + std::string{text} + "\": " + why +
                              "; write host:8848, several separated by commas");
}

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t");
  if (first == text.npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

bool take_prefix(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

int parse_port(std::string_view port, std::string_view whole) {
  int number = 0;
  const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), number);
  if (error != std::errc{} || end != port.data() + port.size() || number < 1 || number > 65535) {
    refuse(whole, "the port must be a number from 1 to 65535");
  }
  return number;
}

// "[::1]:8848" or "host:8848" or "host"; leaves the port, if there is one, in `rest`.
std::string_view take_host(std::string_view& rest, std::string_view whole) {
  std::string_view host;
  if (take_prefix(rest, "[")) {
    const auto end = rest.find(']');
    if (end == rest.npos) refuse(whole, "a bracket is not closed");
    host = rest.substr(0, end);
    rest.remove_prefix(end + 1);
  } else {
    host = rest.substr(0, rest.find(':'));
    rest.remove_prefix(host.size());
  }
  if (host.empty()) refuse(whole, "the host is missing");
  return host;
}

ServerAddress parse_server(std::string_view whole) {
  ServerAddress server;
  std::string_view rest = whole;
  server.https = take_prefix(rest, "https://");
  if (!server.https) take_prefix(rest, "http://");
  if (const auto slash = rest.find('/'); slash != rest.npos) {
    server.context = rest.substr(slash);
    while (server.context.ends_with('/')) server.context.pop_back();
    rest = rest.substr(0, slash);
  }
  server.host = take_host(rest, whole);
  if (take_prefix(rest, ":")) {
    server.port = parse_port(rest, whole);
  } else if (!rest.empty()) {
    refuse(whole, "unexpected text after the host");
  }
  if (server.port + kGrpcPortOffset > 65535) refuse(whole, "port + 1000, the port of gRPC, is above 65535");
  return server;
}

std::string with_port(const std::string& host, int port) {
  const bool v6 = host.find(':') != host.npos;
  return (v6 ? "[" + host + "]" : host) + ":" + std::to_string(port);
}

constexpr const char* kNoRoute = "127.0.0.1";

std::string text_of(const sockaddr_storage& address) {
  char text[NI_MAXHOST];
  const auto* any = reinterpret_cast<const sockaddr*>(&address);
  if (getnameinfo(any, sizeof address, text, sizeof text, nullptr, 0, NI_NUMERICHOST) != 0) return kNoRoute;
  return text;
}

// Connecting a datagram socket only selects the route.
std::string source_towards(const addrinfo& target) {
  const int socket = ::socket(target.ai_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (socket < 0) return kNoRoute;
  sockaddr_storage own{};
  socklen_t size = sizeof own;
  const bool known = connect(socket, target.ai_addr, target.ai_addrlen) == 0 &&
                     getsockname(socket, reinterpret_cast<sockaddr*>(&own), &size) == 0;
  close(socket);
  return known ? text_of(own) : kNoRoute;
}

}  // namespace

std::string to_string(const ServerAddress& server) {
  return with_port(server.host, server.port);
}

std::string grpc_target(const ServerAddress& server) {
  return with_port(server.host, server.grpc_port != 0 ? server.grpc_port : server.port + kGrpcPortOffset);
}

std::string http_url(const ServerAddress& server, std::string_view path) {
  return (server.https ? "https://" : "http://") + to_string(server) + server.context + std::string{path};
}

std::vector<ServerAddress> parse_servers(std::string_view text) {
  std::vector<ServerAddress> servers;
  for (std::string_view rest = text;;) {
    const auto comma = rest.find(',');
    servers.push_back(parse_server(trimmed(rest.substr(0, comma))));
    if (comma == rest.npos) return servers;
    rest.remove_prefix(comma + 1);
  }
}

std::string local_ip_towards(const ServerAddress& server) {
  constexpr const char* kInternet = "192.0.2.1";  // reserved for examples (RFC 5737)
  addrinfo hints{};
  hints.ai_socktype = SOCK_DGRAM;
  hints.ai_flags = AI_NUMERICHOST;
  addrinfo* found = nullptr;
  const std::string port = std::to_string(server.port);
  if (getaddrinfo(server.host.c_str(), port.c_str(), &hints, &found) != 0 &&
      getaddrinfo(kInternet, port.c_str(), &hints, &found) != 0) {
    return kNoRoute;
  }
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> owner{found, freeaddrinfo};
  return source_towards(*found);
}

}  // namespace easyretry::nacos
