#pragma once
// A file as the disk has it, not as the kernel remembers it.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>

namespace easyretry::storage::sqlite {

// A second handle on the write-ahead log, which nobody locks. Throws SqliteError.
class DiskFile {
 public:
  static constexpr std::size_t kBlock = 1 << 20;  // so much is worked on at once

  explicit DiskFile(std::filesystem::path path);
  ~DiskFile();
  DiskFile(const DiskFile&) = delete;
  DiskFile& operator=(const DiskFile&) = delete;

  // As many bytes as there are, as any program sees them.
  std::size_t read(std::span<std::byte> bytes, std::uint64_t at) const;
  // Replaces what is there and what the kernel remembers of it. A block, from a multiple of its size on.
  void write_anew(std::span<const std::byte> bytes, std::uint64_t at) const;
  // From now on read() gives what is on the disk.
  void read_from_disk();

 private:
  const std::filesystem::path path_;
  int file_ = -1;
  bool direct_ = false;
};

// The kernel forgets what it remembers of the file but has not to write any more. For files that SQLite has open, too:
// its locks are not touched.
void forget_cached(const std::filesystem::path& path);

}  // namespace easyretry::storage::sqlite
