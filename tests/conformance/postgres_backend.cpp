#include "conformance/server_fixture.h"
#include "storage/postgres/postgres_session.h"

namespace easyretry::test {
namespace {

std::unique_ptr<storage::sql::Session> connect(const std::string& database) {
  const int port = shared_server_port(ServerKind::postgres);
  return storage::postgres::connect(server_url(ServerKind::postgres, port, database) + "?sslmode=disable");
}

StoreBackend postgres_backend() {
  return server_backend("v15", ServerKind::postgres, connect);
}

INSTANTIATE_TEST_SUITE_P(Postgres, StoreConformance, ::testing::Values(postgres_backend()), backend_name);
INSTANTIATE_TEST_SUITE_P(Postgres, DurableStore, ::testing::Values(postgres_backend()), backend_name);
INSTANTIATE_TEST_SUITE_P(Postgres, StoreModel, ::testing::Values(postgres_backend()), backend_name);

}  // namespace
}  // namespace easyretry::test
