#pragma once
// Checks that a server is fit for a store, and that the store was created with the same settings.

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "storage/redis/connection.h"
#include "storage/redis/keys.h"
#include "storage/redis/redis_store.h"

namespace easyretry::storage::redis {

// The facts that a server reports in INFO.
class ServerFacts {
 public:
  explicit ServerFacts(const Ask& ask);

  std::string of(std::string_view name) const;  // "" if INFO lacks it
  bool is_in_a_cluster() const { return of("redis_mode") == "cluster"; }

  // Throws ServerError if our scripts cannot run there, or if the server may evict stored tasks.
  void refuse_unfit() const;

 private:
  std::map<std::string, std::string, std::less<>> facts_;
};

// The version of record_layout.def, which is stored. Raise it if the bytes change.
inline constexpr int kLayoutVersion = 1;

struct Opened {
  std::string incarnation;
  Durability durability;
};

// Creates the part of the store if it does not exist. Throws ServerError, or StoreError if it was created with other
// settings.
Opened set_up(const Keys& keys, const Ask& ask, const RedisOptions& options);

// The number of shards that the url must have; nullopt if there is no store.
std::optional<std::string> stored_shards(const Keys& keys, const Ask& ask);

// The version of its layout; nullopt if there is no store. Only reads. Throws StoreError if the layout is not one that
// set_up() would accept.
std::optional<int> stored_version(const Keys& keys, const Ask& ask, const RedisOptions& options);

}  // namespace easyretry::storage::redis
