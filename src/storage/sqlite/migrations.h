#pragma once
// The schema, as numbered steps from nothing to now.

#include <string>
#include <vector>

#include "storage/sqlite/connection.h"

namespace easyretry::storage::sqlite {

struct Migration {
  int version;
  std::string sql;                                              // never edited after release; a change is a new number
  std::string (*of_month)(const std::string& table) = nullptr;  // and this for each table of history
};

const std::vector<Migration>& migrations();

// Throws StoreError for a database that a newer release has made or, unless it is to be shared, another application.
// Only reads, and gives the version; 0: nothing of ours is there yet.
std::int64_t check_schema(Connection& db, bool shared);

// Brings the database to the newest version, each step in a transaction of its own: what was cut short starts again.
void migrate(Connection& db, bool shared);

// What migrate() would run on a database of this version.
std::vector<std::string> pending_migrations(Connection& db, int version);

// total_shards belongs to the stored tasks. Stored at the first opening; another value is refused with StoreError.
void agree_on_shards(Connection& db, int total_shards);

// One month of history: the columns of a task and when it finished. A migration that changes them changes the tables
// that are there.
std::string create_history(const std::string& table);

}  // namespace easyretry::storage::sqlite
