#include "conformance/server_fixture.h"
#include "storage/mysql/address.h"

namespace easyretry::test {
namespace {

std::unique_ptr<storage::sql::Session> connect(const std::string& database) {
  return storage::connect_mysql({.port = shared_server_port(ServerKind::mariadb),
                                 .user = "easyretry",
                                 .password = "secret",
                                 .database = database});
}

auto mariadb_backends() {
  return server_backends("v10", ServerKind::mariadb, connect);
}

INSTANTIATE_TEST_SUITE_P(Mariadb, StoreConformance, mariadb_backends(), backend_name);
INSTANTIATE_TEST_SUITE_P(Mariadb, DurableStore, mariadb_backends(), backend_name);
INSTANTIATE_TEST_SUITE_P(Mariadb, StoreModel, mariadb_backends(), backend_name);

}  // namespace
}  // namespace easyretry::test
