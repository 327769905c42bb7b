#pragma once
// How late the tasks of a namespace are that nobody runs, seen by the first few of each shard: a few probes of an
// index, however many are due.

#include <map>
#include <string>
#include <string_view>

#include "storage/store.h"

namespace easyretry::storage {

struct Lag {
  std::map<ShardId, Millis> shards{};        // where something is due: how long the first has been
  std::map<std::string, Millis> handlers{};  // the same by handler, of the tasks that were looked at
  bool complete = true;                      // nothing else is due
};

Result<Lag> look_for_lag(Store& store, std::string_view space, std::size_t tasks_a_shard);

}  // namespace easyretry::storage
