#pragma once
// The caller's own database transaction, for tasks that must be stored with it or not at all.

struct sqlite3;

namespace easyretry {

// Borrowed: the connection stays the caller's, and must be inside a transaction that the caller began and will end.
struct Transaction {
  enum class Kind { sqlite } kind;
  void* connection;
};

// The connection must be on the engine's own file, and is told to leave checkpoints to the engine.
inline Transaction sqlite_tx(sqlite3* connection) {
  return {Transaction::Kind::sqlite, connection};
}

}  // namespace easyretry
