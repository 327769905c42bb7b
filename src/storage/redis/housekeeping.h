#pragma once
// Counts of tasks, and housekeeping: removes old history and adds up old counts.

#include <string_view>

#include "storage/redis/options.h"
#include "storage/redis/parts.h"
#include "storage/store.h"

namespace easyretry::storage::redis {

Counts counts(Parts& parts, std::string_view space);
KeepReport keep(Parts& parts, const RedisOptions& options);

}  // namespace easyretry::storage::redis
