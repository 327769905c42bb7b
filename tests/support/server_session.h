#pragma once
// A session on the shared server of a kind, without TLS, directly or through a proxy's port.

#include <memory>
#include <string>

#include "storage/mysql/address.h"
#include "storage/postgres/open_postgres.h"
#include "support/database_server.h"

namespace easyretry::test {

inline std::unique_ptr<storage::sql::Session> connect_session(ServerKind kind, const std::string& database, int port) {
  if (kind == ServerKind::postgres) {
    const std::string url = server_url(kind, port, database) + "?sslmode=disable";
    return storage::postgres_options(storage::parse_store_url(url), url).connect();
  }
  return storage::connect_mysql(
      {.port = port, .user = "easyretry", .password = "secret", .database = database, .tls = storage::Tls::off});
}

inline std::unique_ptr<storage::sql::Session> connect_session(ServerKind kind, const std::string& database) {
  return connect_session(kind, database, shared_store_port(kind));
}

}  // namespace easyretry::test
