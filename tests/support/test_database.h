#pragma once
// A new, empty database for one test, on the shared server.

#include <memory>
#include <string>

#include "support/database_server.h"

namespace easyretry::test {

// PostgreSQL takes 50 to 150 ms to create a database, so databases are used again: the next user empties them. One is
// taken for as long as the connection that took it lives. MariaDB takes 2 ms: a database is created, and dropped at the
// end. On Redis it is a numbered database, emptied before and after; in a Redis Cluster it is a prefix.
class TestDatabase {
 public:
  explicit TestDatabase(ServerKind kind);

  std::string url() const { return url_through(shared_store_port(kind_)); }
  // Through a proxy, for example.
  std::string url_through(int port) const { return server_url(kind_, port, name_); }

  const std::string& name() const { return name_; }

 private:
  const ServerKind kind_;
  std::string name_;
  std::shared_ptr<void> hold_;  // gives the database up
};

}  // namespace easyretry::test
