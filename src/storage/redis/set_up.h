#pragma once
// What a server must be like, and what a store in it was made for.

#include <optional>
#include <string>

#include "storage/durability.h"
#include "storage/redis/options.h"
#include "storage/redis/part.h"

namespace easyretry::storage::redis {

struct Opened {
  std::string incarnation;
  Durability durability;
};

// Makes the part of the store where there is none. Throws ServerError, or StoreError where it was made for something
// else.
Opened set_up(const Keys& keys, const Ask& ask, const RedisOptions& options);

// What its url must say; nothing where there is no store.
std::optional<std::string> stored_shards(const Keys& keys, const Ask& ask);

}  // namespace easyretry::storage::redis
