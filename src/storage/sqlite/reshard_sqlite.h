#pragma once

#include <optional>

#include "storage/migrate.h"
#include "storage/reshard.h"
#include "storage/sqlite/sqlite_store.h"

namespace easyretry::storage {

// Of the options only path and shared count. Throws StoreError, also while an engine has the file, and
// std::invalid_argument.
ReshardPlan reshard_sqlite(const SqliteOptions& options, const ReshardRequest& request);

// Nothing where nobody has made a store there; makes no file. Throws StoreError.
std::optional<StoredSettings> sqlite_settings(const SqliteOptions& options);

// Opens the store, which brings it to the newest version. Throws as open_sqlite does, and std::invalid_argument for any
// other version.
MigrationPlan migrate_sqlite(const SqliteOptions& options, const Clock& clock, const MigrateRequest& request);

}  // namespace easyretry::storage
