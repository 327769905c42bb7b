#pragma once

#include <string_view>

#include "storage/redis/part.h"
#include "storage/store.h"

namespace easyretry::storage::redis {

// Without a node it only looks.
BeatReply beat(Part& part, const Beat& beat);
bool leave(Part& part, std::string_view space, std::string_view node);

}  // namespace easyretry::storage::redis
