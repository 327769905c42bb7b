#pragma once
// A TCP server on loopback that sends exactly what the test wants: for answers that no HTTP server would send.

#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

namespace easyretry::webhook {

class Wire {
 public:
  explicit Wire(int socket) : socket_(socket) {}
  ~Wire() { ::close(socket_); }
  Wire(const Wire&) = delete;
  Wire& operator=(const Wire&) = delete;

  // Returns false if the other side has closed the connection.
  bool say(std::string_view text) const { return ::send(socket_, text.data(), text.size(), MSG_NOSIGNAL) > 0; }
  // A request without a body, or its head.
  std::string hear() const {
    std::string heard;
    for (char c = 0; !heard.ends_with("\r\n\r\n") && ::recv(socket_, &c, 1, 0) == 1;) heard += c;
    return heard;
  }

 private:
  const int socket_;
};

class RawServer {
 public:
  // Calls `each` for one connection after the other; the connection is closed when it returns.
  explicit RawServer(std::function<void(const Wire&)> each) : each_(std::move(each)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    if (::bind(listener_, reinterpret_cast<sockaddr*>(&address), size) != 0 || ::listen(listener_, 8) != 0 ||
        ::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size) != 0) {
      throw std::runtime_error("cannot listen");
    }
    port_ = ntohs(address.sin_port);
    thread_ = std::thread{[this] { run(); }};
  }
  // Shuts down the connection on which `each` may be waiting, so that a client that keeps it open does not block the
  // test.
  ~RawServer() {
    ::shutdown(listener_, SHUT_RDWR);
    {
      const std::lock_guard lock{mutex_};
      closing_ = true;
      if (current_ >= 0) ::shutdown(current_, SHUT_RDWR);
    }
    thread_.join();
    ::close(listener_);
  }
  RawServer(const RawServer&) = delete;
  RawServer& operator=(const RawServer&) = delete;

  std::string url() const { return "http://127.0.0.1:" + std::to_string(port_) + "/"; }
  int connections() const { return connections_; }

 private:
  void run() {
    for (int socket = 0; (socket = ::accept(listener_, nullptr, nullptr)) >= 0;) {
      const Wire wire{socket};
      ++connections_;
      if (!make_current(socket)) return;
      each_(wire);
      make_current(-1);
    }
  }

  // False: the server is being destroyed.
  bool make_current(int socket) {
    const std::lock_guard lock{mutex_};
    current_ = socket;
    return !closing_;
  }

  const std::function<void(const Wire&)> each_;
  const int listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  std::uint16_t port_ = 0;
  std::atomic<int> connections_{0};
  std::mutex mutex_;
  // Guarded by mutex_
  int current_ = -1;
  bool closing_ = false;

  std::thread thread_;
};

}  // namespace easyretry::webhook
