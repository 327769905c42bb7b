#pragma once
// Makes sure that what a connection sees is on the disk: the log is written once more, byte for byte, synced, and read
// back from the disk.
//
// After a failed sync, pages that were not written look like any other. That each byte is still what SQLite had written
// is told by the checksums of the log: a page that the kernel has dropped meanwhile breaks them. The database itself
// is not written again: what a failed sync kept from it is in the log until a checkpoint has copied it once more.

#include <filesystem>
#include <optional>

#include "storage/sqlite/connection.h"
#include "storage/sqlite/wal_chain.h"

namespace easyretry::storage::sqlite {

// How far the log goes for a connection that has read something. Nothing where that cannot be told.
std::optional<LogEnd> log_end(Connection& db);

// Takes the write lock meanwhile. False: `seen`, which was in the log before, is not in it any more. Throws
// SqliteError, also where the log is not what its index says; that is so until all connections have been closed.
bool rewrite_log(Connection& db, const std::optional<LogEnd>& seen);

// Before the file is opened: what the kernel remembers of the database is not what a failed sync has left on the disk.
// Does nothing where there is no log, and so no such sync.
void forget_unsynced(const std::filesystem::path& database);

// The names of the files, too, are to be there after a power cut. SQLite does this, but does not look whether it
// worked. Throws SqliteError.
void sync_folder(const Connection& db);

}  // namespace easyretry::storage::sqlite
