#include "conformance/store_conformance.h"
#include "storage/memory/memory_store.h"

namespace easyretry::test {
namespace {

class MemoryFixture final : public StoreFixture {
 public:
  explicit MemoryFixture(const StoreSettings& settings)
      : store_({.total_shards = settings.total_shards, .history = settings.history, .id_seed = {}}, clock) {}
  storage::Store& store() override { return store_; }

 private:
  storage::MemoryStore store_;
};

StoreBackend memory_backend() {
  return {.name = "v1",
          .make = [](const StoreSettings& settings) { return std::make_unique<MemoryFixture>(settings); }};
}

INSTANTIATE_TEST_SUITE_P(Memory, StoreConformance, ::testing::Values(memory_backend()), backend_name);
// The model against itself: only the ids differ, and that must not show.
INSTANTIATE_TEST_SUITE_P(Memory, MeetingStore, ::testing::Values(memory_backend()), backend_name);
INSTANTIATE_TEST_SUITE_P(Memory, StoreModel, ::testing::Values(memory_backend()), backend_name);

}  // namespace
}  // namespace easyretry::test
