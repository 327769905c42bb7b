#pragma once

#include <memory>
#include <string_view>

#include "storage/store.h"
#include "storage/url.h"

namespace easyretry::storage {

// postgres://user:password@host:port/database?sslmode=verify-full&sslrootcert=ca.crt&history=…&keep_months=N&shards=N
// &connections=N. The options of TLS are libpq's.
std::unique_ptr<Store> open_postgres(const StoreUrl& address, std::string_view url);

}  // namespace easyretry::storage
