#pragma once
// Settings that all instances of one database share: the first instance stores them, and one that is configured
// differently is refused and told what helps.

#include "storage/sql/server_options.h"
#include "storage/sql/session.h"
#include "storage/sql/tables.h"

namespace easyretry::storage::sql {

// Throws StoreError. `tables` learn the layout, which is between two layouts while tables are being split.
void agree(Session& session, const ServerOptions& options, Tables& tables);

}  // namespace easyretry::storage::sql
