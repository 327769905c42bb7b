#pragma once
// The stores of one kind, as open.cpp needs them.

#include <memory>
#include <optional>
#include <string_view>

#include <easyretry/time.h>

#include "base/part.h"
#include "storage/migrate.h"
#include "storage/reshard.h"
#include "storage/store.h"
#include "storage/url.h"

namespace easyretry::storage {

// Each function does what the one in open.h does, with a url that has been split already.
struct Backend {
  bool may_be_shared;
  std::unique_ptr<Store> (*open)(const StoreUrl& address, std::string_view url, const Clock& clock);
  void (*validate)(const StoreUrl& address, std::string_view url);
  std::optional<StoredSettings> (*settings)(const StoreUrl& address, std::string_view url);
  ReshardPlan (*reshard)(const StoreUrl& address, std::string_view url, const ReshardRequest& request);
  MigrationPlan (*migrate)(const StoreUrl& address, std::string_view url, const Clock& clock,
                           const MigrateRequest& request);
};

extern "C" {
EASYRETRY_OPTIONAL const Backend* easyretry_postgres_backend();
EASYRETRY_OPTIONAL const Backend* easyretry_mysql_backend();
EASYRETRY_OPTIONAL const Backend* easyretry_redis_backend();
}

}  // namespace easyretry::storage
