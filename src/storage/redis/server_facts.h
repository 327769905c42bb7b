#pragma once
// What a server says about itself in INFO, and what follows from it.

#include <map>
#include <string>
#include <string_view>

#include "storage/durability.h"
#include "storage/redis/connection.h"

namespace easyretry::storage::redis {

class ServerFacts {
 public:
  explicit ServerFacts(const Ask& ask);

  std::string of(std::string_view name) const;  // "" if it does not say
  bool is_in_a_cluster() const { return of("redis_mode") == "cluster"; }

  // Throws ServerError if our scripts cannot run there, or if the server may evict stored tasks.
  void refuse_unfit() const;

 private:
  std::map<std::string, std::string, std::less<>> facts_;
};

// Asks for settings that INFO does not report.
Durability durability(const Ask& ask, const ServerFacts& facts, const Confirmation& confirmation);

}  // namespace easyretry::storage::redis
