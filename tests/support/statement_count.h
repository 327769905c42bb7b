#pragma once
// Counts the statements or commands that a server has received, as the server reports them.

#include <memory>

#include "support/database_server.h"

namespace easyretry::test {

class StatementCount {
 public:
  virtual ~StatementCount() = default;
  virtual int now() = 0;  // statements sent together count separately; those of the counter itself do not count
};

// PostgreSQL is started again, to have it write a log of them. The server must outlive it.
std::unique_ptr<StatementCount> count_statements(ServerKind kind, DatabaseServer& server);

}  // namespace easyretry::test
