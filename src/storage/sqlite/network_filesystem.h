#pragma once

#include <cstdint>
#include <string_view>

namespace easyretry::storage::sqlite {

// The name of the network (or pass-through) file system that statfs reports with this magic number; empty for a local
// one. SQLite's WAL shares memory between connections and trusts fsync and file locks, which these do not all honour.
std::string_view network_filesystem(std::uint32_t magic);

}  // namespace easyretry::storage::sqlite
