#pragma once
// One batch inside somebody else's transaction, undone alone if it fails.

#include <memory>
#include <string>

#include "storage/sql/session.h"

namespace easyretry::storage::sql {

class JoinedTransaction {
 public:
  // Throws Refusal where the connection is not inside a transaction, or not to the database with this identity.
  JoinedTransaction(std::unique_ptr<Session> session, const std::string& identity);
  ~JoinedTransaction();
  JoinedTransaction(const JoinedTransaction&) = delete;
  JoinedTransaction& operator=(const JoinedTransaction&) = delete;

  Session& session() { return *session_; }
  void keep();

 private:
  const std::unique_ptr<Session> session_;
  bool kept_ = false;
};

}  // namespace easyretry::storage::sql
