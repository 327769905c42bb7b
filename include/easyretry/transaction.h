#pragma once
// The caller's own database transaction, for tasks that must be stored with it or not at all.

struct sqlite3;
struct pg_conn;
struct st_mysql;

namespace easyretry {

// Borrowed: the connection stays the caller's, and must be inside a transaction that the caller began and will end.
struct Transaction {
  enum class Kind { sqlite, postgres, mysql } kind;
  void* connection;
};

// The connection must be on the engine's own file, and is told to leave checkpoints to the engine.
inline Transaction sqlite_tx(sqlite3* connection) {
  return {Transaction::Kind::sqlite, connection};
}

// A PGconn to the database that the engine uses. It is used while submit runs, and left as it was.
inline Transaction postgres_tx(pg_conn* connection) {
  return {Transaction::Kind::postgres, connection};
}

// A MYSQL of MariaDB's client library, in the database that the engine uses, with utf8mb4 as its character set. It is
// used while submit runs, and left as it was.
inline Transaction mysql_tx(st_mysql* connection) {
  return {Transaction::Kind::mysql, connection};
}

}  // namespace easyretry
