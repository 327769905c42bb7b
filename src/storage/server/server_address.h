#pragma once
// Where a database server is and who we are to it: //user:password@host:port/database.

#include <string>
#include <string_view>

#include "storage/url.h"

namespace easyretry::storage::server {

struct ServerAddress {
  std::string user;
  std::string password;
  std::string host;
  int port = 0;  // 0: the server's usual one
  std::string database;
};

// %-escapes are decoded. Throws std::invalid_argument that says what is missing, and never the password.
ServerAddress parse_server_address(const StoreUrl& parsed, std::string_view url);

}  // namespace easyretry::storage::server
