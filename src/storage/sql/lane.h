#pragma once
// A namespace and a shard as one number, the first column of the index of due tasks. Four bytes instead of a text make
// an insert a fifth cheaper (measured on PostgreSQL). Two namespaces share a lane once in a million, so a reader
// compares the namespace, too.

#include <cstdint>
#include <string_view>

#include <easyretry/task.h>

namespace easyretry::storage::sql {

// | 20 bits of the namespace's FNV-1a hash | 12 bits shard |, as a signed number. It is stored, so it must never
// change.
constexpr std::int32_t lane_of(std::string_view name_space, ShardId shard) {
  std::uint32_t hash = 2166136261U;
  for (const char c : name_space) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619U;
  return static_cast<std::int32_t>(hash << 12U | static_cast<std::uint32_t>(shard));
}

constexpr ShardId shard_in(std::int32_t lane) {
  return ShardId{static_cast<std::uint16_t>(static_cast<std::uint32_t>(lane) & 0xfffU)};
}

static_assert(shard_in(lane_of("payments", ShardId{4095})) == ShardId{4095});

}  // namespace easyretry::storage::sql
