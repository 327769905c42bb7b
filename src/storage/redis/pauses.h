#pragma once

#include <string_view>

#include "storage/checks.h"
#include "storage/redis/part.h"
#include "storage/store.h"

namespace easyretry::storage::redis {

Pausing pause(Part& part, std::string_view space, std::string_view handler, std::string_view why);
bool resume(Part& part, std::string_view space, std::string_view handler);
PausedReply paused(Part& part, std::string_view space);

}  // namespace easyretry::storage::redis
