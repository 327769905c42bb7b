#pragma once

#include <memory>
#include <optional>
#include <string_view>

#include <easyretry/time.h>

#include "storage/migrate.h"
#include "storage/reshard.h"
#include "storage/store.h"

namespace easyretry::storage {

//   memory:?history=…&shards=N
//   sqlite:path?synchronous=full|normal&history=all|failures|none&keep_months=N&shards=N&shared=yes|no
//   postgres://user:password@host:port,host:port/database?history=…&keep_months=N&shards=N&connections=N&sslmode=…
//   mysql://user:password@host:port,host:port/database?history=…&keep_months=N&shards=N&connections=N&ssl=…&ssl_ca=…
//   redis://user:password@host:port/number?prefix=…&history=…&history_limit=N&keep_months=N&shards=N&connections=N&wait=N
//   redis+cluster://user:password@host:port,host:port?tags=N&…
//   redis+sentinel://user:password@host:port,host:port/service?…
//
// The clock must outlive the store; stores on a server use the server's clock instead. A wrong url throws
// std::invalid_argument that says what is wrong, which names are valid, and which one was probably meant. A store that
// cannot be opened throws StoreError.
std::unique_ptr<Store> open_store(std::string_view url, const Clock& clock);

// Makes the checks of open_store that need only the url, and throws std::invalid_argument like it. Opens nothing.
void validate_store_url(std::string_view url);

// Whether several instances can work on such a store: StoreInfo::shared, without opening it.
bool may_be_shared(std::string_view url);

// The settings of an existing store; does not open or create one. nullopt if there is no store. Throws as open_store
// does.
std::optional<StoredSettings> stored_settings(std::string_view url);

// Changes the number of shards. Ignores `shards` and `layout` in the url. Throws as open_store does.
ReshardPlan reshard_store(std::string_view url, const ReshardRequest& request);

// Migrates the schema to a newer version, while instances work on the store. (A SQLite store is migrated whenever it is
// opened.) Throws as open_store does, and std::invalid_argument if the requested version cannot be reached.
MigrationPlan migrate_store(std::string_view url, const Clock& clock, const MigrateRequest& request);

}  // namespace easyretry::storage
