#pragma once
// Versions of a server's schema, and changes of a database by operators: `easyretry migrate` and `easyretry reshard`.
//
// The version is the row `schema_version` of retry_meta. A database that was created before there were versions lacks
// that row, and has version 1. An empty database has version 0.

#include <optional>

#include "storage/migrate.h"
#include "storage/reshard.h"
#include "storage/sql/server_options.h"

namespace easyretry::storage::sql {

int schema_version(Schema& schema);

// Creates the schema of an empty database. Throws StoreError if the database has another version than this release
// needs, and names the command that helps.
void check_schema(Schema& schema, const ServerOptions& options);

// Runs the statements from the existing version to `version`. Safe while instances of the previous version work on the
// same database, and if another process migrates at the same time. If a statement fails, those before it stay done, and
// the next attempt continues from there.
void migrate(Schema& schema, int version);

// These throw as open_store does. Of the options, only those of the connection count: the number of shards and the
// layout are read from the database.
MigrationPlan migrate_server(const ServerOptions& options, const MigrateRequest& request);
ReshardPlan reshard_server(const ServerOptions& options, const ReshardRequest& request);
std::optional<StoredSettings> server_settings(const ServerOptions& options);  // nullopt: there is no store

}  // namespace easyretry::storage::sql
