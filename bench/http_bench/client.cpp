#include "http_bench/client.h"

#include <array>
#include <charconv>
#include <chrono>
#include <stdexcept>

#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <fmt/format.h>

namespace easyretry::bench {

namespace asio = boost::asio;
namespace http = boost::beast::http;

namespace {

using Clock = std::chrono::steady_clock;
using Code = boost::system::error_code;

// The requests that are left, and how long the others took.
struct Work {
  std::size_t count;
  const std::function<std::string(std::size_t)>& request;
  std::size_t next = 0;
  std::vector<double> millis{};
};

class OneConnection {
 public:
  OneConnection(asio::io_context& io, std::uint16_t port) : socket_(io) {
    socket_.connect({asio::ip::make_address("127.0.0.1"), port});
    socket_.set_option(asio::ip::tcp::no_delay{true});
  }

  void send_next(Work& work) {
    if (work.next == work.count) return;
    request_ = work.request(work.next++);
    answer_.clear();
    began_ = Clock::now();
    asio::async_write(socket_, asio::buffer(request_), [this, &work](Code code, std::size_t) {
      if (code) throw std::runtime_error("a connection was lost: " + code.message());
      read(work);
    });
  }

 private:
  void read(Work& work) {
    socket_.async_read_some(asio::buffer(bytes_), [this, &work](Code code, std::size_t count) {
      if (code) throw std::runtime_error("a connection was lost: " + code.message());
      answer_.append(bytes_.data(), count);
      const std::size_t length = message_length(answer_);
      if (length == 0 || answer_.size() < length) return read(work);
      if (!answer_.starts_with("HTTP/1.1 2")) throw std::runtime_error("a request was answered with " + answer_);
      work.millis.push_back(std::chrono::duration<double, std::milli>(Clock::now() - began_).count());
      send_next(work);
    });
  }

  asio::ip::tcp::socket socket_;
  std::string request_;
  std::string answer_;
  std::array<char, 2048> bytes_;
  Clock::time_point began_;
};

}  // namespace

struct Client::Impl {
  explicit Impl(const Daemon& daemon) : authorization("Bearer " + daemon.token()) {
    socket.connect({asio::ip::make_address("127.0.0.1"), daemon.port()});
    socket.set_option(asio::ip::tcp::no_delay{true});
  }

  http::response<http::string_body> ask(http::verb verb, const std::string& target, const std::string& body) {
    http::request<http::string_body> request{verb, target, 11, body};
    request.set(http::field::host, "127.0.0.1");
    request.set(http::field::authorization, authorization);
    request.prepare_payload();
    http::write(socket, request);
    http::response_parser<http::string_body> parser;
    parser.body_limit(boost::none);
    http::read(socket, buffer, parser);
    return parser.release();
  }

  std::string exchange(http::verb verb, const std::string& target, const std::string& body) {
    auto response = ask(verb, target, body);
    if (http::to_status_class(response.result()) != http::status_class::successful) {
      throw std::runtime_error(target + " was answered with " + response.body());
    }
    return std::move(response.body());
  }

  const std::string authorization;
  asio::io_context io;
  asio::ip::tcp::socket socket{io};
  boost::beast::flat_buffer buffer;
};

Client::Client(const Daemon& daemon) : impl_(std::make_unique<Impl>(daemon)) {}
Client::~Client() = default;

std::string Client::get(const std::string& target) {
  return impl_->exchange(http::verb::get, target, {});
}
std::string Client::post(const std::string& target, const std::string& body) {
  return impl_->exchange(http::verb::post, target, body);
}
unsigned Client::post_status(const std::string& target, const std::string& body) {
  return impl_->ask(http::verb::post, target, body).result_int();
}

struct Connections::Impl {
  asio::io_context io{1};
  std::vector<std::unique_ptr<OneConnection>> all;
};

Connections::Connections(const Daemon& daemon, std::size_t count) : impl_(std::make_unique<Impl>()) {
  for (std::size_t i = 0; i < count; ++i) {
    impl_->all.push_back(std::make_unique<OneConnection>(impl_->io, daemon.port()));
  }
}
Connections::~Connections() = default;

std::vector<double> Connections::exchange(std::size_t count, const std::function<std::string(std::size_t)>& request) {
  Work work{count, request};
  work.millis.reserve(count);
  for (const auto& connection : impl_->all) connection->send_next(work);
  impl_->io.restart();
  impl_->io.run();
  return std::move(work.millis);
}

std::string request_text(const Daemon& daemon, const std::string& line, const std::string& body) {
  return fmt::format("{} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {}\r\nContent-Length: {}\r\n\r\n{}", line,
                     daemon.token(), body.size(), body);
}

std::size_t message_length(std::string_view bytes) {
  constexpr std::string_view kEndOfHead = "\r\n\r\n";
  constexpr std::string_view kLength = "\r\nContent-Length: ";
  const auto end = bytes.find(kEndOfHead);
  if (end == std::string_view::npos) return 0;
  std::size_t body = 0;
  const auto length = bytes.find(kLength);
  if (length < end) std::from_chars(bytes.data() + length + kLength.size(), bytes.data() + end, body);
  return end + kEndOfHead.size() + body;
}

}  // namespace easyretry::bench
