#pragma once
// What a server must be like, and what a store in it was made for.

#include <string>

#include "storage/redis/connection.h"
#include "storage/redis/options.h"

namespace easyretry::storage::redis {

struct Opened {
  std::string incarnation;
  std::string durability;
};

// Makes the store where there is none. Throws ServerError, or StoreError where it was made for something else.
Opened set_up(Connection& connection, const RedisOptions& options);

// What its url must say; nothing where there is no store.
std::optional<std::string> stored_shards(Connection& connection, const RedisOptions& options);

}  // namespace easyretry::storage::redis
