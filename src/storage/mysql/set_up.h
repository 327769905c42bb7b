#pragma once

#include "storage/mysql/connection.h"

namespace easyretry::storage::mysql {

// Refuses servers that cannot do the work, and fixes what the statements rely on.
void set_up(Connection& connection, const MysqlAddress& address);

// Throws where it is too old.
void check_version(bool is_mariadb, unsigned long version);

// What a statement may have at most.
std::size_t most_bytes(Connection& connection);

// What an acknowledged write survives by the server's settings, in words.
std::string durability(Connection& connection);

}  // namespace easyretry::storage::mysql
