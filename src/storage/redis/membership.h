#pragma once

#include <string_view>

#include "storage/redis/server.h"
#include "storage/store.h"

namespace easyretry::storage::redis {

// Without a node it only looks.
BeatReply beat(Server& server, const Beat& beat);
bool leave(Server& server, std::string_view space, std::string_view node);

}  // namespace easyretry::storage::redis
