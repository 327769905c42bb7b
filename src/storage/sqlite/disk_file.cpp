#include "storage/sqlite/disk_file.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

#include "storage/sqlite/connection.h"

namespace easyretry::storage::sqlite {
namespace {

[[noreturn]] void raise(int code, const std::filesystem::path& path, const std::string& what) {
  throw SqliteError{code, path.string() + " cannot be " + what + ": " + std::strerror(errno)};
}

constexpr std::size_t kAlignment = 4096;

struct Free {
  void operator()(void* bytes) const { std::free(bytes); }
};

}  // namespace

DiskFile::DiskFile(std::filesystem::path path)
    : path_(std::move(path)), file_(::open(path_.c_str(), O_RDWR | O_CLOEXEC)) {
  if (file_ < 0) raise(SQLITE_CANTOPEN, path_, "opened");
}

DiskFile::~DiskFile() {
  ::close(file_);
}

// Past the page cache only memory and places of a certain alignment can be read.
std::size_t DiskFile::read(std::span<std::byte> bytes, std::uint64_t at) const {
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

// A page that could not be written is taken for one that was, and so is its place on the disk: ext4 gives a file new
// blocks as unwritten ones and, written over what it remembers, leaves them so. After a crash they are zeros. Forgotten
// first, they are looked up and written as they should be.
void DiskFile::write_anew(std::span<const std::byte> bytes, std::uint64_t at) const {
  ::posix_fadvise(file_, static_cast<off_t>(at), static_cast<off_t>(kBlock), POSIX_FADV_DONTNEED);
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t more = ::pwrite(file_, bytes.data() + done, bytes.size() - done, static_cast<off_t>(at + done));
    if (more < 0 && errno == EINTR) continue;
    if (more <= 0) raise(errno == ENOSPC ? SQLITE_FULL : SQLITE_IOERR_WRITE, path_, "written again");
    done += static_cast<std::size_t>(more);
  }
}

// Where a file system has no way past its page cache, the kernel is asked to forget.
void DiskFile::read_from_disk() {
  ::posix_fadvise(file_, 0, 0, POSIX_FADV_DONTNEED);
  const int direct = ::open(path_.c_str(), O_RDONLY | O_DIRECT | O_CLOEXEC);
  if (direct < 0) return;
  ::close(file_);
  file_ = direct;
  direct_ = true;
}

// When a process closes a file, it loses its locks on it, those of SQLite among them. A thread with file descriptors of
// its own has locks of its own.
void forget_cached(const std::filesystem::path& path) {
  std::thread{[&path] {
    if (::unshare(CLONE_FILES) != 0) return;
    const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0) return;
    ::posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);
    ::close(file);
  }}.join();
}

}  // namespace easyretry::storage::sqlite
