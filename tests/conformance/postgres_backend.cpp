#include "conformance/store_conformance.h"
#include "storage/postgres/postgres_session.h"
#include "storage/sql/server_store.h"
#include "support/test_database.h"

namespace easyretry::test {
namespace {

class PostgresFixture final : public StoreFixture {
 public:
  explicit PostgresFixture(const StoreSettings& settings) : settings_(settings) { reopen(); }
  storage::Store& store() override { return *store_; }
  void reopen() override {
    store_.reset();
    store_ = storage::sql::open_server_store(
        {.kind = "postgres",
         .url = "postgres://test",
         .connect = [url = database_.url()] { return storage::postgres::connect(url + "?sslmode=disable"); },
         .history = settings_.history,
         .total_shards = settings_.total_shards,
         .clock = &clock});
  }

 private:
  const StoreSettings settings_;
  const TestDatabase database_{ServerKind::postgres};
  std::unique_ptr<storage::Store> store_;
};

StoreBackend postgres_backend() {
  return {.name = "v15",
          .make = [](const StoreSettings& settings) { return std::make_unique<PostgresFixture>(settings); }};
}

INSTANTIATE_TEST_SUITE_P(Postgres, StoreConformance, ::testing::Values(postgres_backend()), backend_name);
INSTANTIATE_TEST_SUITE_P(Postgres, DurableStore, ::testing::Values(postgres_backend()), backend_name);
INSTANTIATE_TEST_SUITE_P(Postgres, StoreModel, ::testing::Values(postgres_backend()), backend_name);

}  // namespace
}  // namespace easyretry::test
