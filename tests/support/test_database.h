#pragma once
// A database of a test's own on the shared server, empty to begin with.

#include <memory>
#include <string>

#include "support/database_server.h"

namespace easyretry::test {

// PostgreSQL takes 50 to 150 ms to make a database, so they are used again: emptied by whoever takes one next, and
// taken for as long as the connection that took it lives. MariaDB takes 2 ms: there it is made, and dropped at the end;
// on Redis it is one of the numbered ones, emptied before and after; in a Redis Cluster it is a prefix.
class TestDatabase {
 public:
  explicit TestDatabase(ServerKind kind);

  std::string url() const { return url_through(shared_server_port(kind_)); }
  // Through a proxy, for example.
  std::string url_through(int port) const { return server_url(kind_, port, name_); }

  const std::string& name() const { return name_; }

 private:
  const ServerKind kind_;
  std::string name_;
  std::shared_ptr<void> hold_;  // gives the database up
};

}  // namespace easyretry::test
