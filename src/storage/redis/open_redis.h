#pragma once

#include <string_view>

#include "storage/redis/redis_store.h"
#include "storage/url.h"

namespace easyretry::storage {

// redis://user:password@host:port/number?prefix=…, redis+cluster://user:password@host:port,host:port?…, or
// redis+sentinel://user:password@host:port,host:port/service?…; throws std::invalid_argument.
RedisOptions redis_options(const StoreUrl& address, std::string_view url);

}  // namespace easyretry::storage
