#pragma once
// The write connection and everything prepared on it; thrown away and made anew when the connection broke.

#include "storage/sqlite/claims.h"
#include "storage/sqlite/connection.h"
#include "storage/sqlite/history_tables.h"
#include "storage/sqlite/inserts.h"
#include "storage/sqlite/lookup.h"
#include "storage/sqlite/operations.h"
#include "storage/sqlite/settlements.h"
#include "storage/sqlite/sqlite_store.h"

namespace easyretry::storage::sqlite {

struct Session {
  Session(Connection opened, const SqliteOptions& options, GrowingIds& ids);
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  // Whether the next commit waits for the disk. Not to be called inside a transaction.
  void wait_for_disk(bool wait);
  void roll_back();   // throws SqliteError if even that fails
  void checkpoint();  // once the WAL is long enough

  Connection db;
  bool waits_for_disk = false;
  int wal_pages = 0;  // after the last commit
  Statement begin;
  Statement commit;
  HistoryTables history;
  Lookup lookup;
  Calls calls;
  Inserts inserts;
  Claims claims;
  Settlements settlements;
  Operations operations;
};

// The write connection with its settings; `create` makes the file where there is none.
Connection open_writer(const SqliteOptions& options, Connection::Mode mode);

}  // namespace easyretry::storage::sqlite
