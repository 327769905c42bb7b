#pragma once
// A disk that can be told to fail: stands between SQLite and the real file system for every file opened while it lives.

#include <atomic>
#include <memory>

#include <sqlite3.h>

namespace easyretry::storage::sqlite {

class FaultyDisk {
 public:
  FaultyDisk();
  ~FaultyDisk();
  FaultyDisk(const FaultyDisk&) = delete;
  FaultyDisk& operator=(const FaultyDisk&) = delete;

  // Every write that would make a file longer finds no space, as ENOSPC does.
  void fill() { full_ = true; }
  void free() { full_ = false; }

  // The next so many syncs fail, as fsync's EIO does.
  void fail_syncs(int count) { failing_syncs_ = count; }

  // The same of the database alone: those are checkpoints.
  void fail_database_syncs(int count) { failing_database_syncs_ = count; }

  // The next so many reads fail, as a bad sector does.
  void fail_reads(int count) { failing_reads_ = count; }

  int syncs() const { return syncs_; }       // so far
  int logs_opened() const { return logs_; }  // so far, by all connections

  bool full() const { return full_; }
  void count_sync() { ++syncs_; }
  bool take_sync_failure() { return failing_syncs_ > 0 && failing_syncs_-- > 0; }
  void count_log() { ++logs_; }
  bool take_database_sync_failure() { return failing_database_syncs_ > 0 && failing_database_syncs_-- > 0; }
  bool take_read_failure() { return failing_reads_ > 0 && failing_reads_-- > 0; }

 private:
  std::unique_ptr<sqlite3_vfs> vfs_;
  std::atomic<bool> full_{false};
  std::atomic<int> failing_syncs_{0};
  std::atomic<int> failing_database_syncs_{0};
  std::atomic<int> failing_reads_{0};
  std::atomic<int> logs_{0};
  std::atomic<int> syncs_{0};
};

}  // namespace easyretry::storage::sqlite
