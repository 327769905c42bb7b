#pragma once
// Tasks in one SQLite file, for one process: the embedded default.

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>

#include <easyretry/time.h>

#include "storage/history.h"
#include "storage/migrate.h"
#include "storage/reshard.h"
#include "storage/store.h"

namespace easyretry::storage {

struct SqliteOptions {
  std::filesystem::path path;
  // true: acknowledged tasks, outcomes and cancellations survive a power cut (a claim need not: the task is claimed
  // again). false: they survive the process, but a power cut may lose the last moments. The file stays whole either
  // way.
  bool full_sync = true;
  History history = History::all;
  int keep_months = 3;    // whole months of history besides the current one
  int total_shards = 64;  // 1 to 4,096; fixed when the file is made
  // true: the file may be an application's own database. The tables of the tasks are put beside its tables, so that one
  // transaction covers both. false: a file that has tables and is not ours is refused.
  bool shared = false;
  std::optional<std::uint64_t> id_seed{};  // for the same ids in every run; random without it
};

// The clock must outlive the store. Throws std::invalid_argument for options out of range, and StoreError if the file
// cannot be used: the text says why and what to do.
std::unique_ptr<Store> open_sqlite(const SqliteOptions& options, const Clock& clock);

// How many transactions a store made by open_sqlite has committed: writes that arrive together share one.
std::uint64_t sqlite_commit_count(const Store& store);

// Uses path and shared of the options only. Throws StoreError, also while an engine has the file open, and
// std::invalid_argument.
ReshardPlan reshard_sqlite(const SqliteOptions& options, const ReshardRequest& request);

// nullopt if there is no store; makes no file. Throws StoreError.
std::optional<StoredSettings> sqlite_settings(const SqliteOptions& options);

// Opens the store, which brings it to the newest version. Throws as open_sqlite does, and std::invalid_argument for any
// other version.
MigrationPlan migrate_sqlite(const SqliteOptions& options, const Clock& clock, const MigrateRequest& request);

}  // namespace easyretry::storage
