#pragma once

#include <optional>

#include "storage/reshard.h"
#include "storage/sql/server_store.h"

namespace easyretry::storage::sql {

// Of the options only those of the connection count: number and layout are what the database says. Throws StoreError
// and std::invalid_argument.
ReshardPlan reshard_server(const ServerOptions& options, const ReshardRequest& request);

// Nothing where nobody has made a store there. Throws StoreError.
std::optional<StoredSettings> server_settings(const ServerOptions& options);

}  // namespace easyretry::storage::sql
