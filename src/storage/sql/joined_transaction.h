#pragma once
// One batch inside somebody else's transaction, undone alone if it fails.

#include <memory>
#include <string>

#include "storage/sql/session.h"

namespace easyretry::storage::sql {

class JoinedTransaction {
 public:
  // Throws Refusal where the connection is not inside a transaction.
  explicit JoinedTransaction(std::unique_ptr<Session> session);
  ~JoinedTransaction();
  JoinedTransaction(const JoinedTransaction&) = delete;
  JoinedTransaction& operator=(const JoinedTransaction&) = delete;

  Session& session() { return *session_; }
  // Throws Refusal where the connection is not to the database with this identity. The first look at a table: on some
  // servers the transaction then sees no table that is made later.
  void check_database(const std::string& identity);
  void keep();

 private:
  const std::unique_ptr<Session> session_;
  bool kept_ = false;
};

}  // namespace easyretry::storage::sql
