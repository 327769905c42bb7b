#pragma once
// Identity: which submissions are the same task, and which shard it belongs to.

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include <easyretry/task.h>

namespace easyretry::task {

// handler + ":" + MD5 of the canonical JSON arguments, in hex. Equal calls give equal keys on every machine.
std::string derive_key(std::string_view handler, std::string_view canonical_arguments);

// A short form of a namespace and a key: the first 96 bits of SHA-256. In 10^13 stores of 100 million keys each, one
// has two equal digests.
using KeyDigest = std::array<unsigned char, 12>;
KeyDigest key_digest(std::string_view name_space, std::string_view key);

// XXH64, seed 0: it is stored, so it must be the same on every machine and in every release.
std::uint64_t stable_hash(std::string_view text);

// stable_hash of the business id, or of the key if there is none, modulo the number of shards.
ShardId shard_for(std::string_view business_id, std::string_view key, int total_shards);

}  // namespace easyretry::task
