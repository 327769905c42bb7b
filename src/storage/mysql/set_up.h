#pragma once

#include "storage/durability.h"
#include "storage/mysql/connection.h"

namespace easyretry::storage::mysql {

// Refuses servers that cannot do the work, and fixes what the statements rely on.
void set_up(Connection& connection, const MysqlAddress& address);

// Throws where it is too old.
void check_version(bool is_mariadb, unsigned long version);

// What a statement may have at most.
std::size_t most_bytes(Connection& connection);

// By the server's settings.
Durability durability(Connection& connection);

}  // namespace easyretry::storage::mysql
