#pragma once

#include "storage/redis/parts.h"
#include "storage/store.h"

namespace easyretry::storage::redis {

// Store::load, with lua/load.lua.
LoadReply load(Parts& parts, const LoadQuery& query);

}  // namespace easyretry::storage::redis
