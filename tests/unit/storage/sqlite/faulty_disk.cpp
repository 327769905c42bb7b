#include "unit/storage/sqlite/faulty_disk.h"

#include <utility>

namespace easyretry::storage::sqlite {
namespace {

FaultyDisk* the_disk = nullptr;  // the one that exists

// SQLite allocates both in one piece; the real file follows ours.
struct File {
  sqlite3_file base;
  bool is_database;
  sqlite3_file* real() { return reinterpret_cast<sqlite3_file*>(this + 1); }
};

sqlite3_file* real(sqlite3_file* file) {
  return reinterpret_cast<File*>(file)->real();
}

bool grows(sqlite3_file* file, sqlite3_int64 end) {
  sqlite3_int64 size = 0;
  return real(file)->pMethods->xFileSize(real(file), &size) != SQLITE_OK || end > size;
}

// Makes a call, unless it is the one that is to fail.
template <class Call>
int fallible(int failure, Call call) {
  const auto fails = the_disk->take_failure();
  if (fails == FaultyDisk::Fails::before_it_is_made) return failure;
  const int code = call();
  return fails ? failure : code;
}

int read(sqlite3_file* file, void* bytes, int count, sqlite3_int64 at) {
  if (the_disk->take_read_failure()) return SQLITE_IOERR_READ;
  return fallible(SQLITE_IOERR_READ, [&] { return real(file)->pMethods->xRead(real(file), bytes, count, at); });
}

int write(sqlite3_file* file, const void* bytes, int count, sqlite3_int64 at) {
  if (the_disk->full() && grows(file, at + count)) return SQLITE_FULL;
  return fallible(SQLITE_IOERR_WRITE, [&] { return real(file)->pMethods->xWrite(real(file), bytes, count, at); });
}

int truncate(sqlite3_file* file, sqlite3_int64 size) {
  return fallible(SQLITE_IOERR_TRUNCATE, [&] { return real(file)->pMethods->xTruncate(real(file), size); });
}

int sync(sqlite3_file* file, int flags) {
  the_disk->count_sync();
  if (the_disk->take_sync_failure()) return SQLITE_IOERR_FSYNC;
  if (reinterpret_cast<File*>(file)->is_database && the_disk->take_database_sync_failure()) return SQLITE_IOERR_FSYNC;
  return fallible(SQLITE_IOERR_FSYNC, [&] { return real(file)->pMethods->xSync(real(file), flags); });
}

// A request to make the file longer now fails like a write, with the code that the real one has for it.
int control(sqlite3_file* file, int what, void* value) {
  const bool grow = what == SQLITE_FCNTL_SIZE_HINT;
  if (grow && the_disk->full() && grows(file, *static_cast<sqlite3_int64*>(value))) return SQLITE_IOERR_WRITE;
  const auto request = [&] { return real(file)->pMethods->xFileControl(real(file), what, value); };
  return grow ? fallible(SQLITE_IOERR_WRITE, request) : request();
}

// Passes a call on to the real file.
template <auto Method>
struct Forward;
template <class... Args, int (*sqlite3_io_methods::*Method)(sqlite3_file*, Args...)>
struct Forward<Method> {
  static int call(sqlite3_file* file, Args... args) { return (real(file)->pMethods->*Method)(real(file), args...); }
};

void shm_barrier(sqlite3_file* file) {
  real(file)->pMethods->xShmBarrier(real(file));
}

#define EASYRETRY_FORWARD(method) Forward<&sqlite3_io_methods::method>::call

constexpr sqlite3_io_methods kMethods{
    .iVersion = 2,  // without memory-mapped pages
    .xClose = EASYRETRY_FORWARD(xClose),
    .xRead = read,
    .xWrite = write,
    .xTruncate = truncate,
    .xSync = sync,
    .xFileSize = EASYRETRY_FORWARD(xFileSize),
    .xLock = EASYRETRY_FORWARD(xLock),
    .xUnlock = EASYRETRY_FORWARD(xUnlock),
    .xCheckReservedLock = EASYRETRY_FORWARD(xCheckReservedLock),
    .xFileControl = control,
    .xSectorSize = EASYRETRY_FORWARD(xSectorSize),
    .xDeviceCharacteristics = EASYRETRY_FORWARD(xDeviceCharacteristics),
    .xShmMap = EASYRETRY_FORWARD(xShmMap),
    .xShmLock = EASYRETRY_FORWARD(xShmLock),
    .xShmBarrier = shm_barrier,
    .xShmUnmap = EASYRETRY_FORWARD(xShmUnmap),
    .xFetch = nullptr,
    .xUnfetch = nullptr,
};

#undef EASYRETRY_FORWARD

sqlite3_vfs* real_vfs(sqlite3_vfs* vfs) {
  return static_cast<sqlite3_vfs*>(vfs->pAppData);
}

int open(sqlite3_vfs* vfs, const char* name, sqlite3_file* file, int flags, int* out_flags) {
  const int code = real_vfs(vfs)->xOpen(real_vfs(vfs), name, real(file), flags, out_flags);
  file->pMethods = real(file)->pMethods == nullptr ? nullptr : &kMethods;
  reinterpret_cast<File*>(file)->is_database = (flags & SQLITE_OPEN_MAIN_DB) != 0;
  if ((flags & SQLITE_OPEN_WAL) != 0) the_disk->count_log();
  return code;
}

}  // namespace

// The calls that take no file work with the real system's own data, which the copy keeps.
FaultyDisk::FaultyDisk() : vfs_(std::make_unique<sqlite3_vfs>(*sqlite3_vfs_find(nullptr))) {
  the_disk = this;
  vfs_->szOsFile += static_cast<int>(sizeof(File));
  vfs_->zName = "faulty";
  vfs_->pNext = nullptr;
  vfs_->pAppData = sqlite3_vfs_find(nullptr);
  vfs_->xOpen = open;
  sqlite3_vfs_register(vfs_.get(), 1);
}

FaultyDisk::~FaultyDisk() {
  sqlite3_vfs_unregister(vfs_.get());
  the_disk = nullptr;
}

void FaultyDisk::fail_after(std::size_t calls, Fails how) {
  const std::lock_guard lock{mutex_};
  failure_ = {calls, how};
}

bool FaultyDisk::take_back_failure() {
  const std::lock_guard lock{mutex_};
  return std::exchange(failure_, std::nullopt).has_value();
}

std::optional<FaultyDisk::Fails> FaultyDisk::take_failure() {
  const std::lock_guard lock{mutex_};
  if (!failure_ || failure_->calls_before-- > 0) return std::nullopt;
  return std::exchange(failure_, std::nullopt)->how;
}

}  // namespace easyretry::storage::sqlite
