#pragma once
// A TCP client that sends the bytes of the test and returns the answer.

#include <cerrno>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

namespace easyretry::http {

class RawClient {
 public:
  explicit RawClient(std::uint16_t port) : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (::connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
      throw std::runtime_error("cannot connect");
    }
    const timeval patience{20, 0};  // for a broken server only
    ::setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  }
  ~RawClient() { ::close(socket_); }
  RawClient(const RawClient&) = delete;
  RawClient& operator=(const RawClient&) = delete;

  void send(std::string_view text) { static_cast<void>(::send(socket_, text.data(), text.size(), MSG_NOSIGNAL)); }
  int descriptor() const { return socket_; }
  void no_more() { ::shutdown(socket_, SHUT_WR); }
  // Closing it will reset the connection.
  void break_off() {
    const linger at_once{1, 0};
    ::setsockopt(socket_, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
  }

  // One whole answer, by its Content-Length; less if the connection ends before.
  std::string answer() {
    while (true) {
      const auto head = unread_.find("\r\n\r\n");
      if (head != std::string::npos) {
        const std::size_t size = head + 4 + body_size(unread_.substr(0, head));
        if (unread_.size() >= size) return take(size);
      }
      if (!receive()) return take(unread_.size());
    }
  }
  // Only the head, of an answer to HEAD.
  std::string head() {
    while (unread_.find("\r\n\r\n") == std::string::npos) {
      if (!receive()) return take(unread_.size());
    }
    return take(unread_.find("\r\n\r\n") + 4);
  }
  // This many answers; fewer if the connection ends before.
  std::string bytes(std::size_t count) {
    while (unread_.size() < count && receive()) {
    }
    return take(count);
  }
  // Everything until the other side closes.
  std::string rest() {
    while (receive()) {
    }
    return take(unread_.size());
  }

 private:
  static std::size_t body_size(const std::string& head) {
    const auto at = head.find("Content-Length: ");
    return at == std::string::npos ? 0 : std::stoul(head.substr(at + 16));
  }
  bool receive() {
    char bytes[65536];
    const auto count = ::recv(socket_, bytes, sizeof bytes, 0);
    if (count < 0 && errno == EAGAIN) throw std::runtime_error("the server neither says anything nor closes");
    if (count > 0) unread_.append(bytes, static_cast<std::size_t>(count));
    return count > 0;
  }
  std::string take(std::size_t size) {
    std::string taken = unread_.substr(0, size);
    unread_.erase(0, size);
    return taken;
  }

  const int socket_;
  std::string unread_;
};

}  // namespace easyretry::http
