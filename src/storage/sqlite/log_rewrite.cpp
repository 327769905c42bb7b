#include "storage/sqlite/log_rewrite.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include <fcntl.h>
#include <unistd.h>

namespace easyretry::storage::sqlite {
namespace {

constexpr std::size_t kMostAtOnce = 0x1ffff;  // SQLite writes no more bytes than that with one call

sqlite3_file* file_of(sqlite3* db, int which) {
  sqlite3_file* file = nullptr;
  const int code = sqlite3_file_control(db, "main", which, static_cast<void*>(&file));
  return code == SQLITE_OK && file != nullptr && file->pMethods != nullptr ? file : nullptr;
}

// The first bytes of the index, as long as the connection is open. A second handle on that file would be wrong: closing
// it would let go of the locks that SQLite has on it.
std::span<const std::byte> index_of(sqlite3* db) {
  constexpr int kRegion = 32768;
  sqlite3_file* file = file_of(db, SQLITE_FCNTL_FILE_POINTER);
  void volatile* mapped = nullptr;
  if (file == nullptr || file->pMethods->iVersion < 2 || file->pMethods->xShmMap == nullptr) return {};
  if (file->pMethods->xShmMap(file, 0, kRegion, 0, &mapped) != SQLITE_OK || mapped == nullptr) return {};
  file->pMethods->xShmBarrier(file);
  return {static_cast<const std::byte*>(const_cast<void*>(mapped)), kIndexHeaders};
}

[[noreturn]] void not_as_its_index_says() {
  throw SqliteError{SQLITE_IOERR_DATA,
                    "the write-ahead log is not what its index says; if another program has the file open, end it"};
}

void checked(int code, const char* what) {
  if (code != SQLITE_OK) throw SqliteError{code, what};
}

class LogRewrite {
 public:
  LogRewrite(sqlite3_file* log, const LogEnd& end) : log_(log), end_(end) {}

  bool run(const std::optional<LogEnd>& seen) {
    write_again(0, WalChain::kHeader);
    auto chain = WalChain::begin(bytes_);
    if (!chain) not_as_its_index_says();
    bool passed = seen && seen->frames == 0 && chain->end().salt == seen->salt;
    auto at = static_cast<sqlite3_int64>(WalChain::kHeader);
    while (chain->end().frames < end_.frames) {
      const std::size_t frames =
          std::min<std::size_t>(kMostAtOnce / chain->frame_size(), end_.frames - chain->end().frames);
      const std::size_t size = frames * chain->frame_size();
      read(at, size);
      for (std::size_t i = 0; i < frames; ++i) {
        const auto frame = std::span<const std::byte>{bytes_}.subspan(i * chain->frame_size(), chain->frame_size());
        if (!chain->add(frame)) not_as_its_index_says();
        passed = passed || (seen && chain->end() == *seen);
      }
      write(at);
      at += static_cast<sqlite3_int64>(size);
    }
    if (chain->end() != end_) not_as_its_index_says();
    checked(log_->pMethods->xSync(log_, SQLITE_SYNC_NORMAL), "the write-ahead log cannot be synced");
    return passed;
  }

 private:
  void read(sqlite3_int64 at, std::size_t size) {
    bytes_.resize(size);
    checked(log_->pMethods->xRead(log_, bytes_.data(), static_cast<int>(size), at),
            "the write-ahead log cannot be read back");
  }
  void write(sqlite3_int64 at) {
    checked(log_->pMethods->xWrite(log_, bytes_.data(), static_cast<int>(bytes_.size()), at),
            "the write-ahead log cannot be written again");
  }
  void write_again(sqlite3_int64 at, std::size_t size) {
    read(at, size);
    write(at);
  }

  sqlite3_file* log_;
  const LogEnd end_;
  std::vector<std::byte> bytes_;
};

// Keeps others from writing to the log.
class WriteLock {
 public:
  explicit WriteLock(Connection& db) : db_(db) { db_.run("BEGIN IMMEDIATE"); }
  ~WriteLock() { sqlite3_exec(db_.get(), "ROLLBACK", nullptr, nullptr, nullptr); }
  WriteLock(const WriteLock&) = delete;
  WriteLock& operator=(const WriteLock&) = delete;

 private:
  Connection& db_;
};

}  // namespace

std::optional<LogEnd> log_end(Connection& db) {
  return published_end(index_of(db.get()));
}

bool rewrite_log(Connection& db, const std::optional<LogEnd>& seen) {
  const WriteLock lock{db};
  const auto end = log_end(db);
  if (!end) not_as_its_index_says();
  if (end->frames == 0) return seen && seen->frames == 0 && seen->salt == end->salt;
  sqlite3_file* log = file_of(db.get(), SQLITE_FCNTL_JOURNAL_POINTER);
  if (log == nullptr) throw SqliteError{SQLITE_CANTOPEN, "the write-ahead log is not open"};
  return LogRewrite{log, *end}.run(seen);
}

void sync_folder(const Connection& db) {
  const auto folder = std::filesystem::path{sqlite3_db_filename(db.get(), "main")}.parent_path();
  const int opened = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const bool synced = opened >= 0 && (::fsync(opened) == 0 || errno == EINVAL);  // some file systems cannot
  const int error = errno;
  if (opened >= 0) ::close(opened);
  if (!synced) {
    throw SqliteError{SQLITE_IOERR_DIR_FSYNC, folder.string() + " cannot be synced: " + std::strerror(error)};
  }
}

}  // namespace easyretry::storage::sqlite
