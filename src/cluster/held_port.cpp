#include "cluster/held_port.h"

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

namespace easyretry::cluster {

HeldPort::HeldPort() : socket_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  socklen_t size = sizeof address;
  auto* any = reinterpret_cast<sockaddr*>(&address);
  const bool bound = socket_ >= 0 && bind(socket_, any, size) == 0 && getsockname(socket_, any, &size) == 0;
  number_ = bound ? ntohs(address.sin_port) : 0;
}

HeldPort::~HeldPort() {
  if (socket_ >= 0) close(socket_);
}

}  // namespace easyretry::cluster
