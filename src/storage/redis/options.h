#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "storage/history.h"
#include "storage/redis/address.h"
#include "storage/redis/connection.h"

namespace easyretry::storage {

struct RedisOptions {
  redis::Address address{};
  std::vector<redis::Endpoint> nodes{};      // some of a cluster's; empty: one server, the address's
  std::vector<redis::Endpoint> sentinels{};  // that know where the one server is
  std::string service{};                     // as they call it
  int tags = 12;                             // of a cluster: parts that tasks are spread over, by their keys
  std::string url{};                         // without secrets
  std::string prefix = "easyretry";
  History history = History::all;
  int keep_months = 3;
  std::int64_t history_limit = 100'000;  // of a namespace, and as many failures again
  int total_shards = 64;
  std::size_t connections = 4;
  redis::Confirmation confirmation{};
  const Clock* clock = nullptr;  // null: the server's own. For tests

  bool is_cluster() const { return !nodes.empty(); }
  std::int64_t history_of_a_part() const {
    const std::int64_t parts = is_cluster() ? tags : 1;
    return (history_limit + parts - 1) / parts;
  }
};

}  // namespace easyretry::storage
