#include "http_bench/receiver.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>

#include "http_bench/client.h"

namespace easyretry::bench {

namespace asio = boost::asio;
using asio::ip::tcp;

namespace {

using Code = boost::system::error_code;

constexpr std::string_view kAnswer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}";

}  // namespace

struct Receiver::Impl {
  explicit Impl(std::chrono::milliseconds takes_) : takes(takes_) {}

  const std::chrono::milliseconds takes;
  asio::io_context io{1};
  std::vector<tcp::acceptor> acceptors;
};

// One connection and its calls.
class Receiver::Connection : public std::enable_shared_from_this<Connection> {
 public:
  Connection(Receiver& receiver, tcp::socket socket)
      : receiver_(receiver), socket_(std::move(socket)), timer_(socket_.get_executor()) {}

  void read() {
    socket_.async_read_some(asio::buffer(bytes_), [self = shared_from_this()](Code code, std::size_t count) {
      if (code) return;
      self->call_.append(self->bytes_.data(), count);
      const std::size_t length = message_length(self->call_);
      length == 0 || self->call_.size() < length ? self->read() : self->wait();
    });
  }

 private:
  void wait() {
    call_.clear();
    const std::size_t at_once = ++receiver_.at_once_;
    receiver_.most_at_once_ = std::max(receiver_.most_at_once_.load(), at_once);
    timer_.expires_after(receiver_.impl_->takes);
    timer_.async_wait([self = shared_from_this()](Code code) {
      if (!code) self->answer();
    });
  }

  void answer() {
    --receiver_.at_once_;
    asio::async_write(socket_, asio::buffer(kAnswer), [self = shared_from_this()](Code code, std::size_t) {
      if (code) return;
      ++self->receiver_.answered_;
      self->read();
    });
  }

  Receiver& receiver_;
  tcp::socket socket_;
  asio::steady_timer timer_;
  std::array<char, 2048> bytes_;
  std::string call_;
};

Receiver::Receiver(std::size_t ports, std::chrono::milliseconds takes) : impl_(std::make_unique<Impl>(takes)) {
  for (std::size_t i = 0; i < ports; ++i) {
    impl_->acceptors.emplace_back(impl_->io, tcp::endpoint{asio::ip::make_address("127.0.0.1"), 0});
    ports_.push_back(impl_->acceptors.back().local_endpoint().port());
  }
  for (std::size_t i = 0; i < ports; ++i) accept(i);
  thread_ = std::thread{[this] { impl_->io.run(); }};
}

void Receiver::accept(std::size_t port) {
  impl_->acceptors[port].async_accept([this, port](Code code, tcp::socket socket) {
    if (code) return;
    socket.set_option(tcp::no_delay{true});
    std::make_shared<Connection>(*this, std::move(socket))->read();
    accept(port);
  });
}

Receiver::~Receiver() {
  impl_->io.stop();
  thread_.join();
}

}  // namespace easyretry::bench
