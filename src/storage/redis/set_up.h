#pragma once
// Checks that a server is fit for a store, and that the store was created with the same settings.

#include <optional>
#include <string>

#include "storage/durability.h"
#include "storage/redis/options.h"
#include "storage/redis/parts.h"

namespace easyretry::storage::redis {

struct Opened {
  std::string incarnation;
  Durability durability;
};

// Creates the part of the store if it does not exist. Throws ServerError, or StoreError if it was created with other
// settings.
Opened set_up(const Keys& keys, const Ask& ask, const RedisOptions& options);

// The number of shards that its url must have; nullopt if there is no store.
std::optional<std::string> stored_shards(const Keys& keys, const Ask& ask);

}  // namespace easyretry::storage::redis
