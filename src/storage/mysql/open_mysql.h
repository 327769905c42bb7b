#pragma once

#include <string_view>

#include "storage/sql/server_store.h"
#include "storage/url.h"

namespace easyretry::storage {

// mysql://user:password@host:port/database?ssl=off|on|verify-ca|verify-full&ssl_ca=FILE&history=…&keep_months=N&shards=N
// &connections=N, for MariaDB and MySQL.
sql::ServerOptions mysql_options(const StoreUrl& address, std::string_view url);

}  // namespace easyretry::storage
