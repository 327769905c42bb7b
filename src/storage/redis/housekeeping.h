#pragma once
// Counts of tasks, and housekeeping: removes old history and adds up old counts.

#include <span>
#include <string_view>

#include "storage/redis/parts.h"
#include "storage/redis/redis_store.h"
#include "storage/store.h"

namespace easyretry::storage::redis {

Counts counts(Parts& parts, std::string_view name_space);
KeepReport keep(Parts& parts, const RedisOptions& options);
bool expire(Parts& parts, std::span<const Retention> rules);  // returns whether there is more

}  // namespace easyretry::storage::redis
