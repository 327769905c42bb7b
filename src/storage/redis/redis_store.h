#pragma once
// A store in a Redis server. Every change is one script, which the server executes atomically: docs/redis.md.

#include <memory>
#include <optional>

#include "storage/migrate.h"
#include "storage/redis/options.h"
#include "storage/reshard.h"
#include "storage/store.h"

namespace easyretry::storage {

// Throws StoreError.
std::unique_ptr<Store> open_redis(const RedisOptions& options);
std::optional<StoredSettings> redis_settings(const RedisOptions& options);
MigrationPlan migrate_redis(const RedisOptions& options, const MigrateRequest& request);

}  // namespace easyretry::storage
