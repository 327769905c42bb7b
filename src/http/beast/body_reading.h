#pragma once
// Reads the body of one request that was let in: no more than it may have, not slower than is allowed, and within the
// room that all bodies share. Everything happens on the server's thread.

#include <chrono>
#include <functional>
#include <memory>
#include <optional>

#include <boost/beast/http.hpp>

#include "http/beast/host.h"

namespace easyretry::http {

using RequestParser = boost::beast::http::request_parser<boost::beast::http::string_body>;

template <class Stream>
class BodyReading final : public std::enable_shared_from_this<BodyReading<Stream>> {
 public:
  // What is read by, and into; all of it belongs to the connection.
  struct Place {
    Stream& wire;
    boost::beast::flat_buffer& buffer;
    RequestParser& parser;
    BodyRoom::Share& share;
  };
  struct Ending {
    bool whole = false;
    std::optional<Problem> problem{};  // otherwise; nullopt: there is nobody to tell
  };
  using Done = std::function<void(const Ending&)>;

  // `done`, called once, keeps the connection alive.
  BodyReading(const ServerOptions& limits, Place place, Done done);

  // What is wrong with a body of which only the length is known. The parser takes no more than `most` from here on.
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
