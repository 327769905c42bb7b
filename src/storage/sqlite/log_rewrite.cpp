#include "storage/sqlite/log_rewrite.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include <fcntl.h>
#include <unistd.h>

#include "storage/sqlite/disk_file.h"

namespace easyretry::storage::sqlite {
namespace {

std::filesystem::path log_of(const std::filesystem::path& database) {
  return database.string() + "-wal";
}

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
                    "the write-ahead log does not match its index; if another program has the file open, stop it"};
}

// The frames of a log in the order of the file, whatever pieces they come in.
class Frames {
 public:
  Frames(const LogEnd& end, const std::optional<LogEnd>& seen) : end_(end), seen_(seen) {}

  void add(std::span<const std::byte> bytes) {
    rest_.insert(rest_.end(), bytes.begin(), bytes.end());
    std::size_t used = 0;
    if (!chain_ && rest_.size() >= WalChain::kHeader) {
      chain_ = WalChain::begin(rest_);
      if (!chain_) not_as_its_index_says();
      passed_ = seen_ && seen_->frames == 0 && seen_->salt == chain_->end().salt;
      used = WalChain::kHeader;
    }
    for (; chain_ && !complete() && rest_.size() - used >= chain_->frame_size(); used += chain_->frame_size()) {
      if (!chain_->add(std::span{rest_}.subspan(used, chain_->frame_size()))) not_as_its_index_says();
      passed_ = passed_ || (seen_ && chain_->end() == *seen_);
    }
    rest_.erase(rest_.begin(), rest_.begin() + static_cast<std::ptrdiff_t>(used));
  }
  bool complete() const { return chain_ && chain_->end().frames == end_.frames; }
  void check() const {
    if (!complete() || chain_->end() != end_) not_as_its_index_says();
  }
  bool passed() const { return passed_; }

 private:
  const LogEnd end_;
  const std::optional<LogEnd> seen_;
  std::optional<WalChain> chain_;
  std::vector<std::byte> rest_;
  bool passed_ = false;
};

// Reads the log up to its end, and gives its blocks to `use`.
template <class Use>
bool walk(const DiskFile& file, const LogEnd& end, const std::optional<LogEnd>& seen, Use use) {
  Frames frames{end, seen};
  std::vector<std::byte> block(DiskFile::kBlock);
  for (std::uint64_t at = 0; !frames.complete(); at += DiskFile::kBlock) {
    const auto bytes = std::span<const std::byte>{block}.first(file.read(block, at));
    if (bytes.empty()) break;
    frames.add(bytes);
    use(bytes, at);
  }
  frames.check();
  return frames.passed();
}

// Looked through first: as long as it is not known to be whole, nothing of it is touched.
bool rewrite(sqlite3_file* log, DiskFile& file, const LogEnd& end, const std::optional<LogEnd>& seen) {
  const auto nothing = [](std::span<const std::byte>, std::uint64_t) {};
  const bool passed = walk(file, end, seen, nothing);
  walk(file, end, seen, [&](std::span<const std::byte> bytes, std::uint64_t at) { file.write_anew(bytes, at); });
  const int code = log->pMethods->xSync(log, SQLITE_SYNC_NORMAL);
  if (code != SQLITE_OK) throw SqliteError{code, "the write-ahead log cannot be synced"};
  file.read_from_disk();
  walk(file, end, seen, nothing);
  return passed;
}

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
  DiskFile file{log_of(sqlite3_db_filename(db.get(), "main"))};
  return rewrite(log, file, *end, seen);
}

void forget_unsynced(const std::filesystem::path& database) {
  std::error_code no_log;
  if (std::filesystem::file_size(log_of(database), no_log) > 0 && !no_log) forget_cached(database);
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
