#pragma once
// Whether commits are on the disk: DiskSync waits until they are, Trust knows whether a sync failed. Both are safe to
// use from any thread.

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <mutex>
#include <string>

namespace easyretry::storage::sqlite {

// Waits for the disk apart from the writing: while one thread waits, the next transaction is already being written, and
// one wait serves every commit that was made before it began.
class DiskSync {
 public:
  using Sync = std::function<int()>;  // brings the log to the disk; 0, or a SQLite code

  // After each commit, one thread at a time. Returns its number: 1, 2, 3…
  std::uint64_t committed();

  std::uint64_t last_commit();

  // Returns when commit `number` is on the disk, or when that has failed: 0, or the code of the failure.
  int wait_for(std::uint64_t number, const Sync& sync);

 private:
  std::mutex mutex_;  // guards everything below
  std::condition_variable changed_;
  std::uint64_t committed_ = 0;
  std::uint64_t tried_ = 0;  // commits up to this one have a known result
  std::uint64_t failed_from_ = 0;
  std::uint64_t failed_to_ = 0;
  int failure_ = 0;
  bool syncing_ = false;
};

// Whether the contents of the file, as they are read, are known to be on the disk.
//
// When a sync fails, the kernel says so once and then takes the pages it could not write for clean: they can still be
// read, the next sync succeeds, and they are not on the disk. So after a failed sync nothing in the file is trusted
// until all of it has been written again and a sync of that has worked.
class Trust {
 public:
  explicit Trust(std::filesystem::path file) : file_(std::move(file)) {}

  bool broken() const { return epoch() % 2 == 1; }
  // Changes when trust is lost, and again when it is restored.
  std::uint64_t epoch() const { return epoch_.load(); }
  // True: trust was not lost since then.
  bool holds(std::uint64_t since) const { return epoch() == since; }

  // The thread that notices a failure calls this before any caller gets an answer.
  void lose(const std::string& cause);
  void restore();

  void check() const;       // throws SqliteError while trust is broken
  std::string why() const;  // the last time that it was lost, for people

 private:
  const std::filesystem::path file_;
  std::atomic<std::uint64_t> epoch_{0};  // odd: broken
  mutable std::mutex mutex_;             // guards why_, and changes of the epoch
  std::string why_;
};

}  // namespace easyretry::storage::sqlite
