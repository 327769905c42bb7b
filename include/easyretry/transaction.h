#pragma once
// The caller's own database transaction, for tasks that must be stored if and only if it commits.

struct sqlite3;
struct pg_conn;
struct st_mysql;

namespace easyretry {

// Borrows the connection. It must be inside a transaction that the caller has begun and will end.
struct Transaction {
  enum class Kind { sqlite, postgres, mysql } kind;
  void* connection;
};

// The connection must have the engine's own file open. It is set to leave checkpoints to the engine.
inline Transaction sqlite_tx(sqlite3* connection) {
  return {Transaction::Kind::sqlite, connection};
}

// A PGconn to the engine's database. It is only used during submit, and its settings do not change.
inline Transaction postgres_tx(pg_conn* connection) {
  return {Transaction::Kind::postgres, connection};
}

// A MYSQL handle of MariaDB's client library, connected to the engine's database, with the character set utf8mb4. It is
// only used during submit, and its settings do not change.
inline Transaction mysql_tx(st_mysql* connection) {
  return {Transaction::Kind::mysql, connection};
}

}  // namespace easyretry
