#include "storage/sql/joined_transaction.h"

#include "storage/sql/transactions.h"

namespace easyretry::storage::sql {
namespace {

[[noreturn]] void refuse(std::string why) {
  throw Refusal{{Errc::invalid_argument, {}, std::move(why)}};
}

}  // namespace

JoinedTransaction::JoinedTransaction(std::unique_ptr<Session> session) : session_(std::move(session)) {
  if (!session_->in_transaction()) refuse("the connection is not inside a transaction; run BEGIN on it first");
  session_->run("SAVEPOINT easyretry_batch");
}

void JoinedTransaction::check_database(const std::string& identity) {
  std::optional<std::string> theirs;
  try {
    theirs = session_->schema().meta("identity");
  } catch (const ServerError& error) {
    if (error.trouble() != Trouble::no_table) throw;
  }
  if (theirs == identity) return;
  refuse(
      "the connection is to another database than the engine's; a transaction spans one database, so keep your tables "
      "there too, or use submit without a transaction");
}

JoinedTransaction::~JoinedTransaction() {
  if (kept_ || session_->broken()) return;
  try {
    session_->run("ROLLBACK TO SAVEPOINT easyretry_batch");
  } catch (const ServerError&) {
    // The failure that led here has ended the whole transaction, and the application gets that failure.
  }
}

void JoinedTransaction::keep() {
  session_->ledger().write_sums();
  session_->run("RELEASE SAVEPOINT easyretry_batch");
  kept_ = true;
}

}  // namespace easyretry::storage::sql
