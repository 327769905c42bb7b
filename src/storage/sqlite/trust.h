#pragma once
// Whether what the file shows is known to be on the disk.
//
// When a sync fails, the kernel says so once and then takes the pages it could not write for clean: they can still be
// read, the next sync succeeds, and they are not on the disk. So from a failed sync on nothing that the file shows is
// believed, until all of it was written again and a sync of that has worked. Safe to use from any thread.

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <mutex>
#include <string>

namespace easyretry::storage::sqlite {

class Trust {
 public:
  explicit Trust(std::filesystem::path file) : file_(std::move(file)) {}

  bool broken() const { return epoch() % 2 == 1; }
  // Changes when trust is lost, and again when it is back.
  std::uint64_t epoch() const { return epoch_.load(); }
  // True: it was not lost since then.
  bool holds(std::uint64_t since) const { return epoch() == since; }

  // Whoever noticed calls this before anybody is answered.
  void lose(const std::string& cause);
  void restore();

  void check() const;       // throws SqliteError while it is broken
  std::string why() const;  // the last time that it was lost, for people

 private:
  const std::filesystem::path file_;
  std::atomic<std::uint64_t> epoch_{0};  // odd: broken
  mutable std::mutex mutex_;             // guards what follows, and changes of the epoch
  std::string why_;
};

}  // namespace easyretry::storage::sqlite
