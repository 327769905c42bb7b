#pragma once
// The address of a MariaDB or MySQL server, and how to talk to it.

#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "storage/server/server_address.h"
#include "storage/server/server_error.h"
#include "storage/sql/server_store.h"
#include "storage/sql/session.h"
#include "storage/url.h"

struct st_mysql;  // the client library's MYSQL

namespace easyretry::storage {

enum class Tls {
  off,
  on,           // encrypted, but the server's certificate is not verified
  verify_ca,    // the certificate has to be signed by `ca`, for any host name
  verify_full,  // and for the name in `host`
};

struct MysqlAddress {
  std::string host = "127.0.0.1";
  int port = 3306;
  std::string socket{};  // a path: used instead of host and port
  std::string user{};
  server::Password password{};
  std::string database{};
  Tls tls = Tls::off;
  std::filesystem::path ca{};  // empty: the system's certificates

  std::chrono::seconds connect_timeout{5};
  // The server ends a statement that runs longer (MySQL: only if it reads). Shorter than `patience`, so that no
  // statement runs on after this side has given up.
  std::chrono::seconds statement_timeout{9};
  // How long to wait for a server that does not answer or does not read. Then the connection is closed.
  std::chrono::seconds patience{10};
  // After this, rows that a stopped or disconnected instance has locked are free again. Until then, a claim of another
  // instance that needs them waits, with everything else it has to claim. MariaDB only.
  std::chrono::seconds idle_transaction_timeout{3};
  // How long to wait for rows that another transaction holds: with LockWait::patient, and otherwise. In seconds.
  std::chrono::seconds lock_timeout{5};
  std::chrono::seconds brief_lock_timeout{1};

  server::Demotions demotions{};  // shared by the connections to copies of this address
};

// mysql://user:password@host:port,host:port/database?ssl=off|on|verify-ca|verify-full&ssl_ca=FILE&history=…
// &keep_months=N&shards=N&connections=N, for MariaDB and MySQL.
sql::ServerOptions mysql_options(const StoreUrl& address, std::string_view url);

// Connects and checks that the server is supported (MariaDB 10.6, MySQL 8.0.13) and writable. Throws ServerError.
std::unique_ptr<sql::Session> connect_mysql(const MysqlAddress& address);

// On a connection of the application, which still belongs to the application. Throws Refusal if its settings do not
// allow this.
std::unique_ptr<sql::Session> join_mysql(st_mysql* connection);

}  // namespace easyretry::storage
