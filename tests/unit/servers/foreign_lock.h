#pragma once
// A transaction of another client that holds rows, on a connection of its own, until let_go().

#include <memory>
#include <string>

#include <easyretry/task.h>

#include "support/plain_sql.h"

namespace easyretry::test {

class ForeignLock {
 public:
  // `work` is the statement that locks the rows.
  ForeignLock(ServerKind kind, const std::string& database, const std::string& work)
      : sql_(connect_plainly(kind, shared_server_port(kind), database)) {
    sql_->run("BEGIN");
    sql_->run(work);
  }
  static ForeignLock on(ServerKind kind, const std::string& database, const std::string& table, TaskId id) {
    return {kind, database, "SELECT id FROM " + table + " WHERE id = " + number(id) + " FOR UPDATE"};
  }
  static std::string number(TaskId id) { return std::to_string(static_cast<std::int64_t>(id)); }

  std::string run(const std::string& statement) { return sql_->run(statement); }
  void let_go() { sql_->run("ROLLBACK"); }

 private:
  std::unique_ptr<PlainSql> sql_;
};

}  // namespace easyretry::test
