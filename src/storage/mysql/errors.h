#pragma once
// What an error number of MariaDB, MySQL or their client library means for a transaction, and what to do about it.

#include <string_view>

#include "storage/server/server_error.h"

namespace easyretry::storage::mysql {

// `overloaded` for numbers that are not in the table: nothing was done, and another attempt may succeed later.
server::Trouble trouble_of(unsigned code);

// "Access denied for user 'app'@'%' … (1045): check the user and the password in the url".
server::ServerError server_error(unsigned code, std::string_view message);

// For a connection that worked before: after any error of the client library, it is of no use any more.
bool loses_connection(unsigned code);

// The server has rolled back the whole transaction, not only its last statement.
bool undoes_transaction(unsigned code);

}  // namespace easyretry::storage::mysql
