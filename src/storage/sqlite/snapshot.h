#pragma once

#include "storage/sqlite/connection.h"

namespace easyretry::storage::sqlite {

// Several reads of one moment: a task that moves to history meanwhile is seen in one place, not in none.
class Snapshot {
 public:
  explicit Snapshot(Connection& db) : db_(db) { db_.run("BEGIN"); }
  ~Snapshot() { sqlite3_exec(db_.get(), "COMMIT", nullptr, nullptr, nullptr); }
  Snapshot(const Snapshot&) = delete;
  Snapshot& operator=(const Snapshot&) = delete;

 private:
  Connection& db_;
};

}  // namespace easyretry::storage::sqlite
