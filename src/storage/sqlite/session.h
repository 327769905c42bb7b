#pragma once
// The write connection and everything prepared on it; thrown away and made anew when the connection broke.

#include "storage/sqlite/claims.h"
#include "storage/sqlite/connection.h"
#include "storage/sqlite/count_totals.h"
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

  void write_sums();  // what the transaction has stored and ended, as its last step
  void roll_back();   // throws SqliteError if even that fails
  int checkpoint();   // SQLITE_OK, or what failed
  // Whether closing the last connection copies the log into the database; not to be done with one that may have gaps
  // on the disk.
  void checkpoint_on_close(bool wanted);
  // Brings what was committed to the disk; SQLITE_OK, or what failed. May run while another thread uses the session.
  int sync_log() const { return log->pMethods->xSync(log, SQLITE_SYNC_NORMAL | SQLITE_SYNC_DATAONLY); }

  Connection db;
  sqlite3_file* log = nullptr;  // the WAL, open as long as the connection is
  int wal_pages = 0;            // after the last commit
  Statement begin;
  Statement commit;
  HistoryTables history;
  Lookup lookup;
  Calls calls;
  Sums sums;
  CountTotals count_totals;
  Inserts inserts;
  Claims claims;
  Settlements settlements;
  Operations operations;
};

// The write connection with its settings; `create` makes the file where there is none. It does not checkpoint.
Connection open_writer(const SqliteOptions& options, Connection::Mode mode);

}  // namespace easyretry::storage::sqlite
