#include "conformance/server_fixture.h"

namespace easyretry::test {
namespace {

auto mariadb_backends() {
  return server_backends("v10", ServerKind::mariadb);
}

INSTANTIATE_TEST_SUITE_P(Mariadb, StoreConformance, mariadb_backends(), backend_name);
INSTANTIATE_TEST_SUITE_P(Mariadb, DurableStore, mariadb_backends(), backend_name);
INSTANTIATE_TEST_SUITE_P(Mariadb, MeetingStore, mariadb_backends(), backend_name);
INSTANTIATE_TEST_SUITE_P(Mariadb, StoreModel, mariadb_backends(), backend_name);

}  // namespace
}  // namespace easyretry::test
