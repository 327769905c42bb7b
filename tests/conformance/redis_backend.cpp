#include "conformance/store_conformance.h"
#include "storage/redis/redis_store.h"
#include "support/test_database.h"

namespace easyretry::test {
namespace {

class RedisFixture final : public StoreFixture {
 public:
  explicit RedisFixture(const StoreSettings& settings) : settings_(settings), database_(ServerKind::redis) { reopen(); }
  storage::Store& store() override { return *store_; }
  void reopen() override {
    store_.reset();
    store_ = storage::open_redis({.address = {.port = shared_server_port(ServerKind::redis),
                                              .user = "easyretry",
                                              .password = "secret",
                                              .database = std::stoi(database_.name())},
                                  .history = settings_.history,
                                  .total_shards = settings_.total_shards,
                                  .clock = &clock});
  }

 private:
  const StoreSettings settings_;
  const TestDatabase database_;
  std::unique_ptr<storage::Store> store_;
};

// Three primaries, and parts of the store on all of them.
class RedisClusterFixture final : public StoreFixture {
 public:
  explicit RedisClusterFixture(const StoreSettings& settings)
      : settings_(settings), database_(ServerKind::redis_cluster) {
    reopen();
  }
  storage::Store& store() override { return *store_; }
  void reopen() override {
    const int port = shared_server_port(ServerKind::redis_cluster);
    store_.reset();
    store_ = storage::open_redis({.address = {.port = port, .user = "easyretry", .password = "secret"},
                                  .nodes = {{.port = port}},
                                  .tags = 6,
                                  .prefix = database_.name(),
                                  .history = settings_.history,
                                  .total_shards = settings_.total_shards,
                                  .clock = &clock});
  }

 private:
  const StoreSettings settings_;
  const TestDatabase database_;
  std::unique_ptr<storage::Store> store_;
};

auto redis_cluster_backends() {
  return ::testing::Values(StoreBackend{.name = "v7", .make = [](const StoreSettings& settings) {
                                          return std::make_unique<RedisClusterFixture>(settings);
                                        }});
}

auto redis_backends() {
  return ::testing::Values(StoreBackend{
      .name = "v7", .make = [](const StoreSettings& settings) { return std::make_unique<RedisFixture>(settings); }});
}

INSTANTIATE_TEST_SUITE_P(Redis, StoreConformance, redis_backends(), backend_name);
INSTANTIATE_TEST_SUITE_P(Redis, DurableStore, redis_backends(), backend_name);
INSTANTIATE_TEST_SUITE_P(Redis, MeetingStore, redis_backends(), backend_name);
INSTANTIATE_TEST_SUITE_P(Redis, StoreModel, redis_backends(), backend_name);

INSTANTIATE_TEST_SUITE_P(RedisCluster, StoreConformance, redis_cluster_backends(), backend_name);
INSTANTIATE_TEST_SUITE_P(RedisCluster, DurableStore, redis_cluster_backends(), backend_name);
INSTANTIATE_TEST_SUITE_P(RedisCluster, MeetingStore, redis_cluster_backends(), backend_name);
INSTANTIATE_TEST_SUITE_P(RedisCluster, StoreModel, redis_cluster_backends(), backend_name);

}  // namespace
}  // namespace easyretry::test
