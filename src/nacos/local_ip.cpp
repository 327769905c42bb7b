#include "nacos/local_ip.h"

#include <memory>

#include <arpa/inet.h>
#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>

namespace easyretry::nacos {
namespace {

constexpr const char* kNoWay = "127.0.0.1";

std::string text_of(const sockaddr_storage& address) {
  char text[NI_MAXHOST];
  const auto* any = reinterpret_cast<const sockaddr*>(&address);
  if (getnameinfo(any, sizeof address, text, sizeof text, nullptr, 0, NI_NUMERICHOST) != 0) return kNoWay;
  return text;
}

// Connecting a datagram socket only chooses the route.
std::string source_towards(const addrinfo& target) {
  const int socket = ::socket(target.ai_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (socket < 0) return kNoWay;
  sockaddr_storage own{};
  socklen_t size = sizeof own;
  const bool known = connect(socket, target.ai_addr, target.ai_addrlen) == 0 &&
                     getsockname(socket, reinterpret_cast<sockaddr*>(&own), &size) == 0;
  close(socket);
  return known ? text_of(own) : kNoWay;
}

}  // namespace

std::string local_ip_towards(const ServerAddress& server) {
  constexpr const char* kTheWorld = "192.0.2.1";  // an address of nobody, for examples
  addrinfo hints{};
  hints.ai_socktype = SOCK_DGRAM;
  hints.ai_flags = AI_NUMERICHOST;
  addrinfo* found = nullptr;
  const std::string port = std::to_string(server.port);
  if (getaddrinfo(server.host.c_str(), port.c_str(), &hints, &found) != 0 &&
      getaddrinfo(kTheWorld, port.c_str(), &hints, &found) != 0) {
    return kNoWay;
  }
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> owner{found, freeaddrinfo};
  return source_towards(*found);
}

}  // namespace easyretry::nacos
