#pragma once

#include <string_view>

#include "storage/sql/server_store.h"
#include "storage/url.h"

namespace easyretry::storage {

// postgres://user:password@host:port,host:port/database?sslmode=verify-full&sslrootcert=ca.crt&history=…&keep_months=N
// &shards=N&connections=N. The TLS options and target_session_attrs are libpq's.
sql::ServerOptions postgres_options(const StoreUrl& address, std::string_view url);

}  // namespace easyretry::storage
