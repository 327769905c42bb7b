#include "storage/sqlite/reserved_space.h"

namespace easyretry::storage::sqlite {
namespace {

// The file grows in steps of this many bytes; without a step, SQLite ignores the hint below.
constexpr int kGrowthStep = 256 * 1024;

// The index of a log of 64 MiB: 4,096 pages a region, and one region more for the transaction that exceeds it. If the
// index could not grow at a commit, the log could not be read any more, not even to shorten it.
constexpr int kIndexRegions = 5;
constexpr int kIndexRegion = 32768;

sqlite3_file* database_file(sqlite3* db) {
  sqlite3_file* file = nullptr;
  sqlite3_file_control(db, "main", SQLITE_FCNTL_FILE_POINTER, static_cast<void*>(&file));
  return file;
}

// Best effort: on a disk that is already full, the index is as long as its log needs.
void reserve_index(sqlite3_file* file) {
  if (file->pMethods->iVersion < 2 || file->pMethods->xShmMap == nullptr) return;
  for (int region = 0; region < kIndexRegions; ++region) {
    void volatile* mapped = nullptr;
    if (file->pMethods->xShmMap(file, region, kIndexRegion, 1, &mapped) != SQLITE_OK) return;
  }
}

}  // namespace

ReservedSpace::ReservedSpace(Connection& db)
    : db_(db), page_size_(db.integer("PRAGMA page_size")), page_count_(db.prepare("PRAGMA page_count")) {
  int step = kGrowthStep;
  sqlite3_file_control(db_.get(), "main", SQLITE_FCNTL_CHUNK_SIZE, static_cast<void*>(&step));
  reserve_index(database_file(db_.get()));
}

// The space for the pages of the transaction, in whole steps.
std::int64_t ReservedSpace::needed() {
  Rows rows{page_count_};
  const std::int64_t bytes = rows.next() ? page_count_.integer(0) * page_size_ : 0;
  return (bytes + kGrowthStep - 1) / kGrowthStep * kGrowthStep;
}

void ReservedSpace::reserve() {
  sqlite3_int64 size = needed();
  if (size <= reserved_) return;
  const int code = sqlite3_file_control(db_.get(), "main", SQLITE_FCNTL_SIZE_HINT, static_cast<void*>(&size));
  if (code != SQLITE_OK) throw SqliteError{SQLITE_FULL, sqlite3_errstr(SQLITE_FULL)};
  reserved_ = size;
}

// In a transaction that writes nothing: meanwhile no other connection commits, and one that copies the log, as shells
// do, writes no page beyond those that are counted here.
void ReservedSpace::give_back() noexcept {
  try {
    const WriteTransaction lock{db_};
    sqlite3_file* const file = database_file(db_.get());
    const std::int64_t size = needed();
    sqlite3_int64 length = 0;
    if (file->pMethods->xFileSize(file, &length) == SQLITE_OK && length > size) file->pMethods->xTruncate(file, size);
    reserved_ = 0;
  } catch (const SqliteError&) {  // another program holds the lock; the next refusal tries again
  }
}

}  // namespace easyretry::storage::sqlite
