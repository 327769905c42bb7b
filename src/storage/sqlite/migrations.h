#pragma once
// The schema, as numbered steps from nothing to now: migrations/*.sql.

#include <cstdint>
#include <span>
#include <vector>

#include "storage/sqlite/connection.h"

namespace easyretry::storage::sqlite {

struct Migration {
  int version;
  const storage::Statement& sql;
  std::vector<const storage::Statement*> each_month{};  // for each table of history, {month} filled in
};

std::span<const Migration> migrations();

// Throws StoreError for a database of a newer release or, unless it is to be shared, of another application. Only
// reads. Returns the version; 0: the database has none of our tables yet.
std::int64_t check_schema(Connection& db, bool shared);

// Brings the database to the newest version, each step in its own transaction: an interrupted step starts again.
void migrate(Connection& db, bool shared);

// The statements that migrate() would run on a database of this version.
std::vector<std::string> pending_migrations(Connection& db, int version);

// total_shards belongs to the stored tasks. The first opening stores it; another value is refused with StoreError.
void agree_on_shards(Connection& db, int total_shards);

}  // namespace easyretry::storage::sqlite
