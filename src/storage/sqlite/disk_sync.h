#pragma once
// Waits until commits are on the disk, apart from the writing: while one thread waits, the next transaction is already
// being written, and one wait serves every commit that was made before it began. Safe to call from any thread.

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>

namespace easyretry::storage::sqlite {

class DiskSync {
 public:
  using Sync = std::function<int()>;  // brings the log to the disk; 0, or a SQLite code

  // After each commit, one thread at a time. Gives its number: 1, 2, 3…
  std::uint64_t committed();

  std::uint64_t last_commit();

  // Returns when commit `number` is on the disk, or did not get there: 0, or the code of that.
  int wait_for(std::uint64_t number, const Sync& sync);

 private:
  std::mutex mutex_;  // guards what follows
  std::condition_variable changed_;
  std::uint64_t committed_ = 0;
  std::uint64_t tried_ = 0;  // up to this one it is known what became of them
  std::uint64_t failed_from_ = 0;
  std::uint64_t failed_to_ = 0;
  int failure_ = 0;
  bool syncing_ = false;
};

}  // namespace easyretry::storage::sqlite
