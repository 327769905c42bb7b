#pragma once
// Where a MariaDB or MySQL server is, and how to talk to it.

#include <chrono>
#include <filesystem>
#include <memory>
#include <string>

#include "storage/sql/session.h"

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
  // A statement that runs longer is ended by the server (by MySQL only if it reads).
  std::chrono::seconds statement_timeout{30};
  // After these the connection counts as lost; longer than a statement may take.
  std::chrono::seconds read_timeout{40};
  std::chrono::seconds write_timeout{40};
  // For rows that another transaction holds.
  std::chrono::seconds lock_timeout{5};
};

// Connects and checks that the server is one to work with: MariaDB 10.6 or MySQL 8.0.11, writable. Throws ServerError.
std::unique_ptr<sql::Session> connect_mysql(const MysqlAddress& address);

}  // namespace easyretry::storage
