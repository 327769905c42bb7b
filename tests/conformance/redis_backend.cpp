#include "conformance/store_conformance.h"
#include "storage/redis/redis_store.h"
#include "support/test_database.h"

namespace easyretry::test {
namespace {

// On one server; or on three primaries, with parts of the store on all of them.
class RedisFixture final : public StoreFixture {
 public:
  RedisFixture(ServerKind kind, const StoreSettings& settings) : kind_(kind), settings_(settings), database_(kind) {
    reopen();
  }
  storage::Store& store() override { return *store_; }
  void reopen() override {
    store_.reset();
    store_ = storage::open_redis(options());
  }

 private:
  storage::RedisOptions options() const {
    storage::RedisOptions options;
    options.address = {.port = shared_server_port(kind_), .user = "easyretry", .password = "secret"};
    options.history = settings_.history;
    options.total_shards = settings_.total_shards;
    options.clock = &clock;
    if (kind_ == ServerKind::redis_cluster) {
      options.nodes = {options.address.endpoint()};
      options.tags = 6;
      options.prefix = database_.name();
    } else {
      options.address.database = std::stoi(database_.name());
    }
    return options;
  }

  const ServerKind kind_;
  const StoreSettings settings_;
  const TestDatabase database_;
  std::unique_ptr<storage::Store> store_;
};

auto backends(ServerKind kind) {
  return ::testing::Values(StoreBackend{.name = "v7", .make = [kind](const StoreSettings& settings) {
                                          return std::make_unique<RedisFixture>(kind, settings);
                                        }});
}
auto redis_backends() {
  return backends(ServerKind::redis);
}
auto redis_cluster_backends() {
  return backends(ServerKind::redis_cluster);
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
