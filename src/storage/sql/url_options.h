#pragma once

#include "storage/sql/server_store.h"
#include "storage/url_option.h"

namespace easyretry::storage {

// The options that every database server's url may have; false: it is none of them.
bool set_server_option(sql::ServerOptions& options, const UrlOption& option);

}  // namespace easyretry::storage
