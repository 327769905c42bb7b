#pragma once

#include <string>

#include "storage/history.h"
#include "storage/redis/address.h"
#include "storage/redis/connection.h"

namespace easyretry::storage {

struct RedisOptions {
  redis::Address address{};
  std::string url{};  // without secrets
  std::string prefix = "easyretry";
  History history = History::all;
  int keep_months = 3;
  std::int64_t history_limit = 100'000;  // of a namespace, and as many failures again
  int total_shards = 64;
  std::size_t connections = 4;
  redis::Confirmation confirmation{};
  const Clock* clock = nullptr;  // null: the server's own. For tests
};

}  // namespace easyretry::storage
