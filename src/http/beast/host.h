#pragma once
// What connections need of their server, and what they are made of.

#include <boost/beast/core.hpp>
#include <boost/beast/ssl.hpp>

#include "http/body_room.h"
#include "http/http_server.h"
#include "http/strangers.h"

namespace easyretry::http {

using PlainStream = boost::beast::tcp_stream;
using TlsStream = boost::beast::ssl_stream<boost::beast::tcp_stream>;

// Whoever holds it may post to the executor of a connection, as long as it is not closed().
class Host {
 public:
  virtual ~Host() = default;
  virtual const ServerOptions& options() const = 0;
  virtual bool stopping() const = 0;
  virtual bool closed() const = 0;  // nothing is read or written any more
  virtual Admission admit(Request& head) = 0;
  virtual BodyRoom& bodies() = 0;
  virtual Strangers& strangers() = 0;  // on the server's thread only
};

}  // namespace easyretry::http
