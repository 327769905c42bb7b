#include "conformance/server_fixture.h"
#include "storage/postgres/postgres_session.h"

namespace easyretry::test {
namespace {

std::unique_ptr<storage::sql::Session> connect(const std::string& database) {
  const int port = shared_server_port(ServerKind::postgres);
  return storage::postgres::connect(server_url(ServerKind::postgres, port, database) + "?sslmode=disable");
}

auto postgres_backends() {
  return server_backends("v15", ServerKind::postgres, connect);
}

INSTANTIATE_TEST_SUITE_P(Postgres, StoreConformance, postgres_backends(), backend_name);
INSTANTIATE_TEST_SUITE_P(Postgres, DurableStore, postgres_backends(), backend_name);
INSTANTIATE_TEST_SUITE_P(Postgres, StoreModel, postgres_backends(), backend_name);

}  // namespace
}  // namespace easyretry::test
