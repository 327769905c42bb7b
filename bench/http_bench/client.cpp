#include "http_bench/client.h"

#include <stdexcept>

#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>

namespace easyretry::bench {

namespace asio = boost::asio;
namespace http = boost::beast::http;

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

}  // namespace easyretry::bench
