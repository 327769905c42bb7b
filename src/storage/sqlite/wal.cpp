#include "storage/sqlite/wal.h"

#include <bit>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <unistd.h>

#include "storage/sqlite/store_file.h"

namespace easyretry::storage::sqlite {
namespace {

constexpr std::uint32_t kMagic = 0x377f0682;  // the last bit: checksums are of big-endian words

std::uint32_t big_endian(std::span<const std::byte> bytes, std::size_t at) {
  std::uint32_t word = 0;
  for (std::size_t i = 0; i < 4; ++i) word = word << 8 | std::to_integer<std::uint32_t>(bytes[at + i]);
  return word;
}

std::uint32_t as_stored(std::span<const std::byte> bytes, std::size_t at) {
  std::uint32_t word = 0;
  std::memcpy(&word, &bytes[at], sizeof word);
  return word;
}

[[noreturn]] void raise(int code, const std::filesystem::path& path, const std::string& what) {
  throw SqliteError{code, path.string() + " cannot be " + what + ": " + std::strerror(errno)};
}

// A second handle on the write-ahead log, which SQLite never locks. It sees the file as it is on the disk, not as the
// kernel has it cached. Throws SqliteError.
class DiskFile {
 public:
  static constexpr std::size_t kBlock = 1 << 20;  // how much is read or written at once

  explicit DiskFile(std::filesystem::path path)
      : path_(std::move(path)), file_(::open(path_.c_str(), O_RDWR | O_CLOEXEC)) {
    if (file_ < 0) raise(SQLITE_CANTOPEN, path_, "opened");
  }
  ~DiskFile() { ::close(file_); }
  DiskFile(const DiskFile&) = delete;
  DiskFile& operator=(const DiskFile&) = delete;

  // Reads as many bytes as there are, as any program sees them.
  std::size_t read(std::span<std::byte> bytes, std::uint64_t at) const;
  // Replaces a block, at a multiple of its size, and the kernel's cached copy of it.
  void write_again(std::span<const std::byte> bytes, std::uint64_t at) const;
  // From now on read() returns what is on the disk.
  void read_from_disk();

 private:
  const std::filesystem::path path_;
  int file_ = -1;
  bool direct_ = false;
};

// Past the page cache, only aligned memory and offsets can be read.
std::size_t DiskFile::read(std::span<std::byte> bytes, std::uint64_t at) const {
  constexpr std::size_t kAlignment = 4096;
  struct Free {
    void operator()(void* memory) const { std::free(memory); }
  };
  std::byte* to = bytes.data();
  std::unique_ptr<void, Free> aligned;
  if (direct_) {
    aligned.reset(std::aligned_alloc(kAlignment, kBlock));
    if (aligned == nullptr || bytes.size() != kBlock || at % kAlignment != 0) raise(SQLITE_IOERR_READ, path_, "read");
    to = static_cast<std::byte*>(aligned.get());
  }
  std::size_t got = 0;
  while (got < bytes.size()) {
    const ssize_t more = ::pread(file_, to + got, bytes.size() - got, static_cast<off_t>(at + got));
    if (more < 0 && errno == EINTR) continue;
    if (more < 0) raise(SQLITE_IOERR_READ, path_, "read");
    got += static_cast<std::size_t>(more);
    if (more == 0 || (direct_ && got % kAlignment != 0)) break;  // the end
  }
  if (direct_) std::memcpy(bytes.data(), to, got);
  return got;
}

// After a failed write the kernel believes that the page is on the disk. ext4 has marked the page's new block as
// unwritten; if the cached page is written again, the mark stays, and after a crash the block reads as zeros. If the
// page is dropped from the cache first, its block is looked up again, and the mark is removed with the write.
void DiskFile::write_again(std::span<const std::byte> bytes, std::uint64_t at) const {
  ::posix_fadvise(file_, static_cast<off_t>(at), static_cast<off_t>(kBlock), POSIX_FADV_DONTNEED);
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t more = ::pwrite(file_, bytes.data() + done, bytes.size() - done, static_cast<off_t>(at + done));
    if (more < 0 && errno == EINTR) continue;
    if (more <= 0) raise(errno == ENOSPC ? SQLITE_FULL : SQLITE_IOERR_WRITE, path_, "written again");
    done += static_cast<std::size_t>(more);
  }
}

// If the file system has no way past its page cache, the kernel is at least asked to drop the pages.
void DiskFile::read_from_disk() {
  ::posix_fadvise(file_, 0, 0, POSIX_FADV_DONTNEED);
  const int direct = ::open(path_.c_str(), O_RDONLY | O_DIRECT | O_CLOEXEC);
  if (direct < 0) return;
  ::close(file_);
  file_ = direct;
  direct_ = true;
}

// The kernel drops its cached pages of the file that it does not have to write any more. Works for files that SQLite
// has open, too.
void drop_cached_pages(const std::filesystem::path& path) {
  with_own_descriptors([&path] {
    const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0) return;
    ::posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);
    ::close(file);
  });
}

std::filesystem::path log_of(const std::filesystem::path& database) {
  return database.string() + "-wal";
}

sqlite3_file* file_of(sqlite3* db, int which) {
  sqlite3_file* file = nullptr;
  const int code = sqlite3_file_control(db, "main", which, static_cast<void*>(&file));
  return code == SQLITE_OK && file != nullptr && file->pMethods != nullptr ? file : nullptr;
}

// The first bytes of the index, valid while the connection is open. A second handle on that file would be wrong:
// closing it would release the locks that SQLite has on it.
std::span<const std::byte> index_of(sqlite3* db) {
  constexpr int kRegion = 32768;
  sqlite3_file* file = file_of(db, SQLITE_FCNTL_FILE_POINTER);
  void volatile* mapped = nullptr;
  if (file == nullptr || file->pMethods->iVersion < 2 || file->pMethods->xShmMap == nullptr) return {};
  if (file->pMethods->xShmMap(file, 0, kRegion, 0, &mapped) != SQLITE_OK || mapped == nullptr) return {};
  file->pMethods->xShmBarrier(file);
  return {static_cast<const std::byte*>(const_cast<void*>(mapped)), kIndexHeaders};
}

[[noreturn]] void throw_mismatch() {
  throw SqliteError{SQLITE_IOERR_DATA,
                    "the write-ahead log does not match its index; if another program has the file open, stop it"};
}

// Then nothing can be missing from the log that is there now, even if that is another one: a first transaction that
// failed may have left half a header, which SQLite replaces.
bool had_no_commit(const std::optional<LogEnd>& seen) {
  return seen && seen->frames == 0;
}

// The frames of a log in the order of the file, in pieces of any size.
class Frames {
 public:
  Frames(const LogEnd& end, const std::optional<LogEnd>& seen) : end_(end), seen_(seen) {}

  void add(std::span<const std::byte> bytes) {
    rest_.insert(rest_.end(), bytes.begin(), bytes.end());
    std::size_t used = 0;
    if (!chain_ && rest_.size() >= WalChain::kHeader) {
      chain_ = WalChain::begin(rest_);
      if (!chain_) throw_mismatch();
      passed_ = had_no_commit(seen_);
      used = WalChain::kHeader;
    }
    for (; chain_ && !complete() && rest_.size() - used >= chain_->frame_size(); used += chain_->frame_size()) {
      if (!chain_->add(std::span{rest_}.subspan(used, chain_->frame_size()))) throw_mismatch();
      passed_ = passed_ || (seen_ && chain_->end() == *seen_);
    }
    rest_.erase(rest_.begin(), rest_.begin() + static_cast<std::ptrdiff_t>(used));
  }
  bool complete() const { return chain_ && chain_->end().frames == end_.frames; }
  void check() const {
    if (!complete() || chain_->end() != end_) throw_mismatch();
  }
  bool passed() const { return passed_; }

 private:
  const LogEnd end_;
  const std::optional<LogEnd> seen_;
  std::optional<WalChain> chain_;
  std::vector<std::byte> rest_;
  bool passed_ = false;
};

// Reads the log up to its end, and calls `use` with its blocks.
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

// Reads everything first: nothing in the log is changed until it is known to be whole.
bool rewrite(sqlite3_file* log, DiskFile& file, const LogEnd& end, const std::optional<LogEnd>& seen) {
  const auto nothing = [](std::span<const std::byte>, std::uint64_t) {};
  const bool passed = walk(file, end, seen, nothing);
  walk(file, end, seen, [&](std::span<const std::byte> bytes, std::uint64_t at) { file.write_again(bytes, at); });
  const int code = log->pMethods->xSync(log, SQLITE_SYNC_NORMAL);
  if (code != SQLITE_OK) throw SqliteError{code, "the write-ahead log cannot be synced"};
  file.read_from_disk();
  walk(file, end, seen, nothing);
  return passed;
}

}  // namespace

std::optional<WalChain> WalChain::begin(std::span<const std::byte> header) {
  if (header.size() < kHeader || (big_endian(header, 0) & ~1U) != kMagic) return std::nullopt;
  WalChain chain;
  chain.big_endian_ = (big_endian(header, 0) & 1U) != 0;
  chain.page_ = big_endian(header, 8);
  chain.salt_ = {as_stored(header, 16), as_stored(header, 20)};
  chain.sum(header.first(24));
  const bool whole = chain.checksum_ == WalPair{big_endian(header, 24), big_endian(header, 28)};
  return whole && chain.page_ >= 512 && chain.page_ <= 65536 ? std::optional{chain} : std::nullopt;
}

bool WalChain::add(std::span<const std::byte> frame) {
  if (frame.size() != frame_size() || WalPair{as_stored(frame, 8), as_stored(frame, 12)} != salt_) return false;
  const WalPair before = checksum_;
  sum(frame.first(8));
  sum(frame.subspan(kFrameHeader));
  if (checksum_ != WalPair{big_endian(frame, 16), big_endian(frame, 20)}) {
    checksum_ = before;
    return false;
  }
  ++frames_;
  return true;
}

void WalChain::sum(std::span<const std::byte> bytes) {
  const bool swap = big_endian_ != (std::endian::native == std::endian::big);
  auto [first, second] = checksum_;
  const std::byte* const end = bytes.data() + bytes.size() / 8 * 8;
  for (const std::byte* at = bytes.data(); at != end; at += 8) {
    std::uint32_t words[2];
    __builtin_memcpy(words, at, sizeof words);
    first += (swap ? __builtin_bswap32(words[0]) : words[0]) + second;
    second += (swap ? __builtin_bswap32(words[1]) : words[1]) + first;
  }
  checksum_ = {first, second};
}

// Two copies of 48 bytes, written one after the other: if they differ, a writer is still at work.
std::optional<LogEnd> published_end(std::span<const std::byte> index) {
  constexpr std::size_t kCopy = kIndexHeaders / 2;
  if (index.size() < kIndexHeaders) return std::nullopt;
  std::array<std::byte, kIndexHeaders> copies{};
  std::memcpy(copies.data(), index.data(), copies.size());
  if (std::memcmp(copies.data(), copies.data() + kCopy, kCopy) != 0) return std::nullopt;
  return LogEnd{.frames = as_stored(copies, 16),
                .salt = {as_stored(copies, 32), as_stored(copies, 36)},
                .checksum = {as_stored(copies, 24), as_stored(copies, 28)}};
}

std::optional<LogEnd> log_end(Connection& db) {
  return published_end(index_of(db.get()));
}

bool rewrite_log(Connection& db, const std::optional<LogEnd>& seen) {
  const WriteTransaction lock{db};  // nothing is written in it: it keeps others from writing to the log
  const auto end = log_end(db);
  if (!end) throw_mismatch();
  if (end->frames == 0) return had_no_commit(seen);
  sqlite3_file* log = file_of(db.get(), SQLITE_FCNTL_JOURNAL_POINTER);
  if (log == nullptr) throw SqliteError{SQLITE_CANTOPEN, "the write-ahead log is not open"};
  DiskFile file{log_of(sqlite3_db_filename(db.get(), "main"))};
  return rewrite(log, file, *end, seen);
}

void forget_unsynced(const std::filesystem::path& database) {
  std::error_code no_log;
  if (std::filesystem::file_size(log_of(database), no_log) > 0 && !no_log) drop_cached_pages(database);
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

std::uint64_t DiskSync::committed() {
  const std::lock_guard lock{mutex_};
  return ++committed_;
}

std::uint64_t DiskSync::last_commit() {
  const std::lock_guard lock{mutex_};
  return committed_;
}

int DiskSync::wait_for(std::uint64_t number, const Sync& sync) {
  std::unique_lock lock{mutex_};
  while (tried_ < number) {
    if (syncing_) {
      changed_.wait(lock);
      continue;
    }
    const std::uint64_t from = tried_;
    const std::uint64_t upto = committed_;
    syncing_ = true;
    lock.unlock();
    const int code = sync();
    lock.lock();
    syncing_ = false;
    tried_ = upto;
    if (code != 0) {
      failure_ = code;
      failed_from_ = from;
      failed_to_ = upto;
    }
    changed_.notify_all();
  }
  return number > failed_from_ && number <= failed_to_ ? failure_ : 0;
}

void Trust::lose(const std::string& cause) {
  const std::lock_guard lock{mutex_};
  if (broken()) return;  // the first failure is the one to report
  why_ = "writing " + file_.string() + " to the disk failed: " + cause +
         "; no request is served until it has been written again and read back";
  ++epoch_;
}

void Trust::restore() {
  const std::lock_guard lock{mutex_};
  if (broken()) ++epoch_;
}

void Trust::check() const {
  if (broken()) throw SqliteError{SQLITE_IOERR_FSYNC, why()};
}

std::string Trust::why() const {
  const std::lock_guard lock{mutex_};
  return why_;
}

}  // namespace easyretry::storage::sqlite
