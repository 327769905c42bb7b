#pragma once
// Where a Redis server is, and how to talk to it.

#include <chrono>
#include <string>

namespace easyretry::storage::redis {

struct Address {
  std::string host = "127.0.0.1";
  int port = 6379;
  std::string user{};  // empty: the default one
  std::string password{};
  int database = 0;

  std::chrono::seconds connect_timeout{5};
  // With a server that says nothing; then the connection is given up.
  std::chrono::seconds patience{10};
};

}  // namespace easyretry::storage::redis
