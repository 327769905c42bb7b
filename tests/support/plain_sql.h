#pragma once
// SQL for tests, straight through libpq and libmariadb: what it says of a server does not depend on the code under
// test.

#include <memory>
#include <stdexcept>
#include <string>

#include "support/database_server.h"

namespace easyretry::test {

// Also when the connection is lost, in which case nobody knows whether the statement was done.
struct SqlError : std::runtime_error {
  using runtime_error::runtime_error;
};

// One connection without TLS; for one thread at a time.
class PlainSql {
 public:
  virtual ~PlainSql() = default;
  // Gives the first column of the first row; empty if there is none.
  virtual std::string run(const std::string& statement) = 0;
};

std::unique_ptr<PlainSql> connect_plainly(ServerKind kind, int port, const std::string& database = "easyretry");

}  // namespace easyretry::test
