#pragma once
// What a server says of itself (INFO), and what follows from it.

#include <map>
#include <string>
#include <string_view>

#include "storage/durability.h"
#include "storage/redis/connection.h"

namespace easyretry::storage::redis {

class ServerFacts {
 public:
  explicit ServerFacts(const Ask& ask);

  std::string of(std::string_view name) const;  // "" where it does not say
  bool is_in_a_cluster() const { return of("redis_mode") == "cluster"; }

  // Throws ServerError where our scripts cannot run, or where the server may throw away what is stored in it.
  void refuse_unfit() const;

 private:
  std::map<std::string, std::string, std::less<>> facts_;
};

// Asks for what INFO does not say.
Durability durability(const Ask& ask, const ServerFacts& facts, const Confirmation& confirmation);

}  // namespace easyretry::storage::redis
