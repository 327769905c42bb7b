#pragma once
// Versions of a server's schema. The version is the row `schema_version` of retry_meta. A database that was made before
// there were versions lacks that row, and has version 1. An empty database has version 0.

#include "storage/migrate.h"
#include "storage/sql/server_options.h"
#include "storage/sql/session.h"

namespace easyretry::storage::sql {

int schema_version(Schema& schema);

// Creates the schema of an empty database. Throws StoreError if the database has another version than this release
// needs, and names the command that helps.
void check_schema(Schema& schema, const ServerOptions& options);

// Runs the statements from the version that is there to `version`. Safe while instances of the version before work on
// the same database, and if another process migrates at the same time. If a statement fails, those before it stay done,
// and the next attempt goes on from there.
void migrate(Schema& schema, int version);

// easyretry migrate. Throws as open_store does.
MigrationPlan migrate_server(const ServerOptions& options, const MigrateRequest& request);

}  // namespace easyretry::storage::sql
