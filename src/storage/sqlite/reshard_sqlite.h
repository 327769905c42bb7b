#pragma once

#include <optional>

#include "storage/reshard.h"
#include "storage/sqlite/sqlite_store.h"

namespace easyretry::storage {

// Of the options only path and shared count. Throws StoreError, also while an engine has the file, and
// std::invalid_argument.
ReshardPlan reshard_sqlite(const SqliteOptions& options, const ReshardRequest& request);

// Nothing where nobody has made a store there; makes no file. Throws StoreError.
std::optional<StoredSettings> sqlite_settings(const SqliteOptions& options);

}  // namespace easyretry::storage
