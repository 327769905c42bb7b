#pragma once
// A disk that fails on request: sits between SQLite and the real file system for every file opened while it exists.

#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>

#include <sqlite3.h>

namespace easyretry::storage::sqlite {

class FaultyDisk {
 public:
  FaultyDisk();
  ~FaultyDisk();
  FaultyDisk(const FaultyDisk&) = delete;
  FaultyDisk& operator=(const FaultyDisk&) = delete;

  // Every write that would make a file longer fails like ENOSPC.
  void fill() { full_ = true; }
  void free() { full_ = false; }

  // The next `count` syncs fail, like EIO from fsync.
  void fail_syncs(int count) { failing_syncs_ = count; }

  // The same for the database file alone: those syncs are of checkpoints.
  void fail_database_syncs(int count) { failing_database_syncs_ = count; }

  // The next `count` reads fail, as with a bad sector.
  void fail_reads(int count) { failing_reads_ = count; }

  enum class Fails {
    before_it_is_made,
    after_it_is_made,  // it has its effect, and is reported as failed
  };
  // Once: after that many calls of all connections, the next one fails. Calls are those that read, write, sync, shorten
  // or lengthen a file.
  void fail_after(std::size_t calls, Fails how);
  // False: there was nothing to take back, because a call has failed.
  bool take_back_failure();

  int syncs() const { return syncs_; }       // so far
  int logs_opened() const { return logs_; }  // so far, by all connections

  bool full() const { return full_; }
  void count_sync() { ++syncs_; }
  bool take_sync_failure() { return failing_syncs_ > 0 && failing_syncs_-- > 0; }
  void count_log() { ++logs_; }
  bool take_database_sync_failure() { return failing_database_syncs_ > 0 && failing_database_syncs_-- > 0; }
  bool take_read_failure() { return failing_reads_ > 0 && failing_reads_-- > 0; }
  std::optional<Fails> take_failure();  // at each call

 private:
  struct Failure {
    std::size_t calls_before = 0;
    Fails how{};
  };

  std::unique_ptr<sqlite3_vfs> vfs_;
  std::atomic<bool> full_{false};
  std::atomic<int> failing_syncs_{0};
  std::atomic<int> failing_database_syncs_{0};
  std::atomic<int> failing_reads_{0};
  std::atomic<int> logs_{0};
  std::atomic<int> syncs_{0};
  std::mutex mutex_;
  std::optional<Failure> failure_;  // guarded by mutex_
};

}  // namespace easyretry::storage::sqlite
