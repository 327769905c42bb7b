#pragma once
// One batch inside the application's transaction. If the batch fails, it alone is rolled back.

#include <memory>
#include <string>

#include "storage/sql/session.h"

namespace easyretry::storage::sql {

class JoinedTransaction {
 public:
  // Throws Refusal if the connection is not inside a transaction.
  explicit JoinedTransaction(std::unique_ptr<Session> session);
  ~JoinedTransaction();
  JoinedTransaction(const JoinedTransaction&) = delete;
  JoinedTransaction& operator=(const JoinedTransaction&) = delete;

  Session& session() { return *session_; }
  // Throws Refusal if the connection is not to the database with this identity. This reads a table for the first time:
  // on some servers the transaction then sees no table that is created later.
  void check_database(const std::string& identity);
  void keep();

 private:
  const std::unique_ptr<Session> session_;
  bool kept_ = false;
};

}  // namespace easyretry::storage::sql
