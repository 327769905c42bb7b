#pragma once

#include "storage/redis/server.h"
#include "storage/store.h"

namespace easyretry::storage::redis {

// Store::load.
LoadReply load(Server& server, const LoadQuery& query);

}  // namespace easyretry::storage::redis
