#pragma once
// Tasks in one SQLite file, for one process: the embedded default.

#include <cstdint>
#include <filesystem>
#include <memory>

#include <easyretry/time.h>

#include "storage/history.h"
#include "storage/store.h"

namespace easyretry::storage {

struct SqliteOptions {
  std::filesystem::path path;
  // true: tasks, outcomes and cancellations that were acknowledged survive a power cut (a claim need not: it is only
  // claimed again). false: they survive the process, a power cut may take the last moments. The file stays whole either
  // way.
  bool full_sync = true;
  History history = History::all;
  int keep_months = 3;    // whole months of history beside the current one
  int total_shards = 64;  // 1 to 4,096; fixed when the file is made
  // The file may be an application's own database: the tables of the tasks are put beside its tables, so that one
  // transaction covers both. false: a file that has tables and is not ours is refused.
  bool shared = false;
};

// The clock must outlive the store. Throws std::invalid_argument for options out of range, and StoreError where the
// file cannot be used: the text says why and what to do.
std::unique_ptr<Store> open_sqlite(const SqliteOptions& options, const Clock& clock);

// How many transactions a store made by open_sqlite has committed: writes that come together share one.
std::uint64_t sqlite_commit_count(const Store& store);

}  // namespace easyretry::storage
