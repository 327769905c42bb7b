#pragma once
// mxrmq://user:password@host:port/database?prefix=…&topic=…&profile=…&queue=…&in_flight=…&connections=N

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <easyretry/time.h>

#include "mxrmq/keys.h"
#include "storage/redis/address.h"

namespace easyretry::mxrmq {

enum class InFlight {
  lease,  // only in expires: Python's watch over processing, which counts minutes, leaves long runs alone
  list,   // in the topic's processing, too, where Python counts them
};

struct QueueOptions {
  storage::redis::Address address{};
  std::string prefix{};
  std::optional<Profile> profile{};   // none: whichever is there
  std::string queue{};                // of gen-doc; empty: the first topic
  std::vector<std::string> topics{};  // that fsck and import look at besides those that messages name
  InFlight in_flight = InFlight::lease;
  std::size_t connections = 8;
  const Clock* clock = nullptr;  // null: the server's own. For tests
};

// Throws std::invalid_argument that says what is wrong, and never the password.
QueueOptions parse_queue_url(std::string_view url);

}  // namespace easyretry::mxrmq
