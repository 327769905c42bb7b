#include "conformance/server_fixture.h"

namespace easyretry::test {
namespace {

auto postgres_backends() {
  return server_backends("v15", ServerKind::postgres);
}

INSTANTIATE_TEST_SUITE_P(Postgres, StoreConformance, postgres_backends(), backend_name);
INSTANTIATE_TEST_SUITE_P(Postgres, DurableStore, postgres_backends(), backend_name);
INSTANTIATE_TEST_SUITE_P(Postgres, MeetingStore, postgres_backends(), backend_name);
INSTANTIATE_TEST_SUITE_P(Postgres, StoreModel, postgres_backends(), backend_name);

}  // namespace
}  // namespace easyretry::test
