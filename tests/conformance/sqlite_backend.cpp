#include "conformance/store_conformance.h"
#include "storage/sqlite/sqlite_store.h"
#include "support/temp_folder.h"

namespace easyretry::test {
namespace {

class SqliteFixture final : public StoreFixture {
 public:
  explicit SqliteFixture(const StoreSettings& settings) : settings_(settings) { open(); }
  storage::Store& store() override { return *store_; }
  void reopen() override {
    store_.reset();
    open();
  }

 private:
  // Nothing here pulls the plug, so there is no need to wait for the disk.
  void open() {
    store_ = storage::open_sqlite({.path = folder_.path() / "tasks.db",
                                   .full_sync = false,
                                   .history = settings_.history,
                                   .keep_months = 3,
                                   .total_shards = settings_.total_shards},
                                  clock);
  }

  const StoreSettings settings_;
  const TempFolder folder_;
  std::unique_ptr<storage::Store> store_;
};

StoreBackend sqlite_backend() {
  return {.name = "v3",
          .make = [](const StoreSettings& settings) { return std::make_unique<SqliteFixture>(settings); }};
}

INSTANTIATE_TEST_SUITE_P(Sqlite, StoreConformance, ::testing::Values(sqlite_backend()), backend_name);
INSTANTIATE_TEST_SUITE_P(Sqlite, DurableStore, ::testing::Values(sqlite_backend()), backend_name);
INSTANTIATE_TEST_SUITE_P(Sqlite, StoreModel, ::testing::Values(sqlite_backend()), backend_name);

}  // namespace
}  // namespace easyretry::test
