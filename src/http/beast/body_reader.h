#pragma once
// Reads the body of an admitted request, within its maximum length, minimum rate and the budget for all bodies. Runs on
// the server's thread.

#include <chrono>
#include <functional>
#include <memory>
#include <optional>

#include <boost/beast/http.hpp>

#include "http/beast/host.h"

namespace easyretry::http {

using RequestParser = boost::beast::http::request_parser<boost::beast::http::string_body>;

template <class Stream>
class BodyReader final : public std::enable_shared_from_this<BodyReader<Stream>> {
 public:
  // References to parts of the connection.
  struct Place {
    Stream& wire;
    boost::beast::flat_buffer& buffer;
    RequestParser& parser;
    BodyBudget::Share& share;
  };
  struct End {
    bool complete = false;
    std::optional<Problem> problem{};  // if not complete; nullopt: the connection is lost
  };
  using Done = std::function<void(const End&)>;

  // `done`, called once, keeps the connection alive.
  BodyReader(const ServerOptions& limits, Place place, Done done);

  // Checks the announced length. The parser accepts no more than `most` bytes from here on.
  std::optional<Problem> objection(std::size_t most);
  void go_on();

 private:
  using Code = boost::beast::error_code;

  std::chrono::steady_clock::time_point next_bytes_by() const;
  void have_some(Code code, std::size_t count);

  const ServerOptions& limits_;
  const Place place_;
  const Done done_;
  const std::chrono::steady_clock::time_point begun_ = std::chrono::steady_clock::now();
  std::size_t received_ = 0;
};

}  // namespace easyretry::http
