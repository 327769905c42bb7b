#pragma once
// Counts, and housekeeping: what is old is forgotten.

#include <string_view>

#include "storage/redis/options.h"
#include "storage/redis/server.h"
#include "storage/store.h"

namespace easyretry::storage::redis {

Counts counts(Server& server, std::string_view space);
KeepReport keep(Server& server, const RedisOptions& options);

}  // namespace easyretry::storage::redis
