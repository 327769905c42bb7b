#pragma once
// How many statements, or commands, a server has been asked for, by its own account.

#include <memory>

#include "support/database_server.h"

namespace easyretry::test {

class StatementCount {
 public:
  virtual ~StatementCount() = default;
  virtual int now() = 0;  // each of several that were sent at once, but none of those that count
};

// PostgreSQL is started again, to have it write a log of them. The server must outlive it.
std::unique_ptr<StatementCount> count_statements(ServerKind kind, DatabaseServer& server);

}  // namespace easyretry::test
