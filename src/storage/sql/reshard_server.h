#pragma once

#include <optional>

#include "storage/reshard.h"
#include "storage/sql/server_store.h"

namespace easyretry::storage::sql {

// Only the options of the connection count: the number of shards and the layout are read from the database. Throws
// StoreError and std::invalid_argument.
ReshardPlan reshard_server(const ServerOptions& options, const ReshardRequest& request);

// Returns nothing if there is no store. Throws StoreError.
std::optional<StoredSettings> server_settings(const ServerOptions& options);

}  // namespace easyretry::storage::sql
