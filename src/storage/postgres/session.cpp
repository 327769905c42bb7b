#include "storage/postgres/session.h"

#include <utility>

#include "storage/postgres/statements.h"

namespace easyretry::storage::postgres {
namespace {

using server::ServerError;
using server::Trouble;

// With another encoding, a character that it lacks would keep a task from being stored, or its error from being
// settled.
void check_encoding(const Connection& db) {
  if (db.encoding() == "UTF8") return;
  throw ServerError{Trouble::refused,
                    "the database's encoding is " + db.encoding() +
                        ", but tasks are UTF-8: create one with CREATE DATABASE … ENCODING 'UTF8' TEMPLATE "
                        "template0"};
}

TimePoint time_in(const Rows& rows) {
  return from_ms(std::stoll(rows.str(0, 0)));
}

void append(std::string& script, const Statement& statement) {
  script.append(statement.text).append("; ");
}

}  // namespace

PostgresSession::PostgresSession(const std::string& settings, std::shared_ptr<NewKeys> new_keys)
    : Session(ledger_, schema_), db_(settings), new_keys_(std::move(new_keys)) {
  check_encoding(db_);
  db_.run(statements::settings);
}

PostgresSession::PostgresSession(PGconn* borrowed) : Session(ledger_, schema_), db_(borrowed) {}

TimePoint PostgresSession::begin(Promise promise) {
  std::string settings;
  if (lock_wait_ == sql::LockWait::brief) append(settings, statements::brief_lock_timeout);
  if (lock_wait_ == sql::LockWait::none) append(settings, statements::least_lock_timeout);
  if (promise != Promise::kept) append(settings, statements::async_commit);
  return time_in(db_.run(statements::begin.with({{"settings", settings}})));
}

// If the transaction has failed before, COMMIT rolls it back without an error.
void PostgresSession::commit() {
  const Rows done = db_.run(ledger_.insert_sums() + "COMMIT");
  if (std::string_view{PQcmdStatus(done.get())} != "COMMIT") {
    throw ServerError{Trouble::again, "the transaction was rolled back"};
  }
}

TimePoint PostgresSession::now() {
  return time_in(db_.run(statements::now));
}

}  // namespace easyretry::storage::postgres
