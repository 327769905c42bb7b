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
//   postgres://user:password@host:port/database?history=…&keep_months=N&shards=N&connections=N&sslmode=…
//   mysql://user:password@host:port/database?history=…&keep_months=N&shards=N&connections=N&ssl=…&ssl_ca=…
//   redis://user:password@host:port/number?prefix=…&history=…&history_limit=N&keep_months=N&shards=N&connections=N&wait=N
//   redis+cluster://user:password@host:port,host:port?tags=N&…
//   redis+sentinel://user:password@host:port,host:port/service?…
//
// The clock must outlive the store; a database server judges by its own instead. A wrong url throws
// std::invalid_argument naming what is wrong, what is known and what was probably meant; a store that cannot be opened
// throws StoreError.
std::unique_ptr<Store> open_store(std::string_view url, const Clock& clock);

// All that open_store refuses for the url alone; nothing is opened. Throws std::invalid_argument as it does.
void validate_store_url(std::string_view url);

// Whether several instances can work on such a store: StoreInfo::shared, known by the url.
bool may_be_shared(std::string_view url);

// What is there, without opening or making anything; nothing where nobody has made a store. Throws as open_store does.
std::optional<StoredSettings> stored_settings(std::string_view url);

// Another number of shards; `shards` and `layout` of the url are not looked at. Throws as open_store does.
ReshardPlan reshard_store(std::string_view url, const ReshardRequest& request);

// Brings the schema to a newer version, while instances work on the store; SQLite's is brought to it whenever it is
// opened. Throws as open_store does, and std::invalid_argument if there is no way to the version asked for.
MigrationPlan migrate_store(std::string_view url, const Clock& clock, const MigrateRequest& request);

}  // namespace easyretry::storage
