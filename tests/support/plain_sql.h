#pragma once
// SQL for tests, directly through libpq and libmariadb: it does not depend on the code under test.

#include <memory>
#include <stdexcept>
#include <string>

#include "support/database_server.h"

namespace easyretry::test {

// Also thrown when the connection is lost; then the statement may or may not have been executed.
struct SqlError : std::runtime_error {
  using runtime_error::runtime_error;
};

// One connection without TLS; for one thread at a time.
class PlainSql {
 public:
  virtual ~PlainSql() = default;
  // Returns the first column of the first row; empty without rows.
  virtual std::string run(const std::string& statement) = 0;
};

std::unique_ptr<PlainSql> connect_plainly(ServerKind kind, int port, const std::string& database = "easyretry");

}  // namespace easyretry::test
