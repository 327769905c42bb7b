#pragma once

#include <memory>
#include <string_view>

#include "storage/store.h"
#include "storage/url.h"

namespace easyretry::storage {

// mysql://user:password@host:port/database?ssl=off|on|verify-ca|verify-full&ssl_ca=FILE&history=…&keep_months=N&shards=N
// &connections=N, for MariaDB and MySQL.
std::unique_ptr<Store> open_mysql(const StoreUrl& address, std::string_view url);

}  // namespace easyretry::storage
