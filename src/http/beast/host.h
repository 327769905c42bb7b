#pragma once
// What connections need of their server, and what they are made of.

#include <chrono>

#include <boost/beast/core.hpp>
#include <boost/beast/ssl.hpp>

#include "http/http_server.h"

namespace easyretry::http {

using PlainStream = boost::beast::tcp_stream;
using TlsStream = boost::beast::ssl_stream<boost::beast::tcp_stream>;

// For one piece of an answer, from whoever reads it.
constexpr std::chrono::seconds kWriteWithin{30};

// Whoever holds it may post to the executor of a connection, as long as it is not closed().
class Host {
 public:
  virtual ~Host() = default;
  virtual const ServerOptions& options() const = 0;
  virtual bool stopping() const = 0;
  virtual bool closed() const = 0;  // nothing is read or written any more
  virtual void serve(Request request, Respond respond) = 0;
};

}  // namespace easyretry::http
