#pragma once
// Where Redis servers are, and how to connect to them.

#include <chrono>
#include <compare>
#include <string>

#include "storage/server/server_address.h"

namespace easyretry::storage::redis {

struct Endpoint {
  std::string host = "127.0.0.1";
  int port = 6379;

  auto operator<=>(const Endpoint&) const = default;
};

inline std::string to_string(const Endpoint& endpoint) {
  return endpoint.host + ":" + std::to_string(endpoint.port);
}

struct Address {
  std::string host = "127.0.0.1";
  int port = 6379;
  std::string user{};  // empty: the default user
  server::Password password{};
  int database = 0;

  std::chrono::seconds connect_timeout{5};
  // How long to wait for an answer before the connection is given up.
  std::chrono::seconds patience{10};

  Endpoint endpoint() const { return {host, port}; }
  Address at(const Endpoint& other) const {
    Address there = *this;
    there.host = other.host;
    there.port = other.port;
    return there;
  }
};

}  // namespace easyretry::storage::redis
