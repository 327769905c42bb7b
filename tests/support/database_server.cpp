#include "support/database_server.h"

#include <cstdio>
#include <cstdlib>
#include <exception>

#include "support/servers_tool.h"

namespace easyretry::test {
namespace {

int start_in(const std::filesystem::path& folder, ServerKind kind, const std::string& options) {
  return start_server(name_of(kind), folder, options);
}

// Each kind is looked for once.
template <ServerKind kind>
int find_shared_server() {
  static const int port = shared_server(name_of(kind), " --no-sync");
  return port;
}

}  // namespace

std::string name_of(ServerKind kind) {
  switch (kind) {
    case ServerKind::postgres: return "postgres";
    case ServerKind::mariadb: return "mariadb";
    case ServerKind::redis: return "redis";
    case ServerKind::redis_cluster: break;
  }
  return "redis-cluster";
}

std::string server_url(ServerKind kind, int port, const std::string& database) {
  const std::string where = "://easyretry:secret@127.0.0.1:" + std::to_string(port) + "/";
  if (kind == ServerKind::redis_cluster) {
    return "redis+cluster" + where + "0?prefix=" + (database.empty() ? "easyretry" : database);
  }
  const std::string scheme = kind == ServerKind::mariadb ? "mysql" : name_of(kind);
  const std::string usual = kind == ServerKind::redis ? "0" : "easyretry";
  return scheme + where + (database.empty() ? usual : database);
}

DatabaseServer::DatabaseServer(ServerKind kind) : kind_(kind), folder_(new_server_folder()) {
  start();
}

DatabaseServer::~DatabaseServer() {
  try {
    order_server("remove", folder_);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());  // its watcher will try, too
  }
}

void DatabaseServer::kill() {
  order_server("kill", folder_);
}

void DatabaseServer::stop() {
  order_server("stop", folder_);
}

void DatabaseServer::start() {
  port_ = start_in(folder_, kind_, "");
}

int shared_server_port(ServerKind kind) {
  switch (kind) {
    case ServerKind::postgres: return find_shared_server<ServerKind::postgres>();
    case ServerKind::mariadb: return find_shared_server<ServerKind::mariadb>();
    case ServerKind::redis: return find_shared_server<ServerKind::redis>();
    case ServerKind::redis_cluster: break;
  }
  return find_shared_server<ServerKind::redis_cluster>();
}

int shared_store_port(ServerKind kind) {
  const char* const through = std::getenv("TEST_STORES_THROUGH");
  return through == nullptr ? shared_server_port(kind) : std::stoi(through);
}

std::string shared_server_url(ServerKind kind) {
  return server_url(kind, shared_server_port(kind));
}

std::filesystem::path shared_server_ca(ServerKind kind) {
  return shared_server_folder(name_of(kind)) / "tls/ca.crt";
}

}  // namespace easyretry::test
