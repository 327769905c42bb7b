#pragma once
// A store in a Redis server. Every change is one script, which the server executes atomically: docs/redis.md.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "storage/history.h"
#include "storage/migrate.h"
#include "storage/redis/connection.h"
#include "storage/reshard.h"
#include "storage/store.h"
#include "storage/url.h"

namespace easyretry::storage {

struct RedisOptions {
  redis::Address address{};
  std::vector<redis::Endpoint> nodes{};      // some nodes of a cluster; empty: one server, at the address
  std::vector<redis::Endpoint> sentinels{};  // if not empty, they know where the server is
  std::string service{};                     // its name at the sentinels
  int tags = 12;                             // of a cluster: the parts over which tasks are spread by key
  std::string url{};                         // without secrets
  std::string prefix = "easyretry";
  History history = History::all;
  int keep_months = 3;
  std::int64_t history_limit = 100'000;  // per namespace, and the same number of failures
  int total_shards = 64;
  std::size_t connections = 4;
  redis::Confirmation confirmation{};
  const Clock* clock = nullptr;  // null: the server's own. For tests

  bool is_cluster() const { return !nodes.empty(); }
  std::int64_t history_of_a_part() const {
    const std::int64_t parts = is_cluster() ? tags : 1;
    return (history_limit + parts - 1) / parts;
  }
};

// redis://user:password@host:port/number?prefix=…, redis+cluster://user:password@host:port,host:port?…, or
// redis+sentinel://user:password@host:port,host:port/service?…; throws std::invalid_argument.
RedisOptions redis_options(const StoreUrl& address, std::string_view url);

// These throw StoreError.
std::unique_ptr<Store> open_redis(const RedisOptions& options);
std::optional<StoredSettings> redis_settings(const RedisOptions& options);  // nullopt: there is no store
MigrationPlan migrate_redis(const RedisOptions& options, const MigrateRequest& request);

}  // namespace easyretry::storage
