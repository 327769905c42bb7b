#pragma once
// Where a MariaDB or MySQL server is, and how to talk to it.

#include <chrono>
#include <filesystem>
#include <memory>
#include <string>

#include "storage/sql/session.h"

struct st_mysql;  // the client library's MYSQL

namespace easyretry::storage {

enum class Tls {
  off,
  on,           // encrypted, but whoever answers is believed to be the server
  verify_ca,    // a certificate that `ca` has signed, for any name
  verify_full,  // and for the name in `host`
};

struct MysqlAddress {
  std::string host = "127.0.0.1";
  int port = 3306;
  std::string socket{};  // a path: used instead of host and port
  std::string user{};
  std::string password{};
  std::string database{};
  Tls tls = Tls::off;
  std::filesystem::path ca{};  // empty: the system's certificates

  std::chrono::seconds connect_timeout{5};
  // A statement that runs longer is ended by the server (by MySQL only if it reads): before `patience` is, so that
  // nothing goes on there that nobody waits for here.
  std::chrono::seconds statement_timeout{9};
  // With a server that says nothing, or takes nothing; then the connection is given up.
  std::chrono::seconds patience{10};
  // What a stopped or cut off instance has locked is free again after this: a claim of others waits for it, with all
  // that it has to claim. MariaDB only.
  std::chrono::seconds idle_transaction_timeout{3};
  // For rows that another transaction holds: LockWait::patient, and all others. The server counts in seconds.
  std::chrono::seconds lock_timeout{5};
  std::chrono::seconds brief_lock_timeout{1};
};

// Connects and checks that the server is one to work with: MariaDB 10.6 or MySQL 8.0.11, writable. Throws ServerError.
std::unique_ptr<sql::Session> connect_mysql(const MysqlAddress& address);

// On somebody else's connection, which stays theirs. Throws Refusal where its settings do not allow for it.
std::unique_ptr<sql::Session> join_mysql(st_mysql* theirs);

}  // namespace easyretry::storage
