#pragma once
// What one call of a script may have to do: a server does one thing at a time, and everybody waits for it.

#include <cstddef>

namespace easyretry::storage::redis {

inline constexpr std::size_t kItemsACall = 500;  // some milliseconds; more are hardly cheaper each
inline constexpr std::size_t kBytesACall = std::size_t{4} << 20;
inline constexpr std::size_t kMembersALoad = 2'000;
inline constexpr std::size_t kIdsARead = 2'000;  // more than can share a millisecond and a shard

}  // namespace easyretry::storage::redis
