#pragma once
// Opens, checks and changes stores on a database server, by their urls.

#include <memory>
#include <string_view>

#include "storage/backend.h"
#include "storage/sql/maintenance.h"
#include "storage/sql/server_store.h"

namespace easyretry::storage::sql {

// `options_of` reads the urls of the server.
template <ServerOptions (*options_of)(const StoreUrl& address, std::string_view url)>
const Backend& server_backend() {
  static constexpr Backend kBackend{
      .may_be_shared = true,
      .open = [](const StoreUrl& address, std::string_view url,
                 const Clock&) { return open_server_store(options_of(address, url)); },
      .validate = [](const StoreUrl& address, std::string_view url) { sql::validate(options_of(address, url)); },
      .settings = [](const StoreUrl& address,
                     std::string_view url) { return server_settings(options_of(address, url)); },
      .reshard = [](const StoreUrl& address, std::string_view url,
                    const ReshardRequest& request) { return reshard_server(options_of(address, url), request); },
      .migrate = [](const StoreUrl& address, std::string_view url, const Clock&,
                    const MigrateRequest& request) { return migrate_server(options_of(address, url), request); },
  };
  return kBackend;
}

}  // namespace easyretry::storage::sql
