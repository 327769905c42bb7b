#pragma once
// A session on the shared server of a kind, without TLS, directly or through a proxy's port.

#include <memory>
#include <string>

#include "storage/mysql/address.h"
#include "storage/postgres/postgres_session.h"
#include "support/database_server.h"

namespace easyretry::test {

inline std::unique_ptr<storage::sql::Session> connect_session(ServerKind kind, const std::string& database, int port) {
  if (kind == ServerKind::postgres) {
    return storage::postgres::connect(server_url(kind, port, database) + "?sslmode=disable",
                                      std::make_shared<storage::postgres::NewKeys>());
  }
  return storage::connect_mysql(
      {.port = port, .user = "easyretry", .password = "secret", .database = database, .tls = storage::Tls::off});
}

inline std::unique_ptr<storage::sql::Session> connect_session(ServerKind kind, const std::string& database) {
  return connect_session(kind, database, shared_server_port(kind));
}

}  // namespace easyretry::test
