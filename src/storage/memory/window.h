#pragma once

#include "storage/memory/live_tasks.h"
#include "storage/store.h"

namespace easyretry::storage {

// Store::load over the live tasks: walks each shard's due order from its cursor and stops at the edge of the window.
LoadReply load_window(const LiveTasks& live, const LoadQuery& query, TimePoint now);

}  // namespace easyretry::storage
