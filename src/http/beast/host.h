#pragma once
// State that connections share with their server.

#include <cstddef>
#include <cstdint>
#include <list>
#include <optional>
#include <unordered_map>

#include <boost/beast/core.hpp>
#include <boost/beast/ssl.hpp>

#include "http/body_budget.h"
#include "http/http_server.h"

namespace easyretry::http {

using PlainStream = boost::beast::tcp_stream;
using TlsStream = boost::beast::ssl_stream<boost::beast::tcp_stream>;

// Connections without an authenticated request, in the order in which they were last opened or answered. A request that
// arrives slowly does not change the order. Not thread-safe.
class UnauthenticatedConnections {
 public:
  // A new connection, or one that was just answered.
  void touch(std::uint64_t connection) {
    forget(connection);
    places_[connection] = order_.insert(order_.end(), connection);
  }
  // It is authenticated now, or closed.
  void forget(std::uint64_t connection) {
    const auto found = places_.find(connection);
    if (found == places_.end()) return;
    order_.erase(found->second);
    places_.erase(found);
  }
  // Removes and returns the connection that has been silent longest, to be cut off.
  std::optional<std::uint64_t> take_longest_silent() {
    if (order_.empty()) return std::nullopt;
    const std::uint64_t first = order_.front();
    forget(first);
    return first;
  }
  std::size_t count() const { return places_.size(); }

 private:
  std::list<std::uint64_t> order_;
  std::unordered_map<std::uint64_t, std::list<std::uint64_t>::iterator> places_;
};

// As long as it is not closed(), tasks may be posted to the executors of connections.
class Host {
 public:
  virtual ~Host() = default;
  virtual const ServerOptions& options() const = 0;
  virtual bool stopping() const = 0;
  virtual bool closed() const = 0;  // nothing is read or written any more
  virtual Admission admit(Request& head) = 0;
  virtual BodyBudget& bodies() = 0;
  virtual UnauthenticatedConnections& unauthenticated() = 0;  // on the server's thread only
};

}  // namespace easyretry::http
