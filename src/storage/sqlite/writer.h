#pragma once
// All writes of a store: one connection, which is also the only one that checkpoints (SQLite before 3.51.3 can lose a
// commit if two connections write and checkpoint at once), and one transaction for all writes that arrive together.

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "storage/counts.h"
#include "storage/group_commit.h"
#include "storage/sqlite/calls.h"
#include "storage/sqlite/connection.h"
#include "storage/sqlite/history_tables.h"
#include "storage/sqlite/inserter.h"
#include "storage/sqlite/sqlite_store.h"
#include "storage/sqlite/task_changes.h"
#include "storage/sqlite/wal.h"

namespace easyretry::storage::sqlite {

// Space on the disk that a commit will need later. A checkpoint copies pages from the log into the database, and the
// database may have to grow for that: on a disk that the log has filled it could not, and so the log could never be
// shortened. Therefore the database grows before the commit that makes it larger, while the transaction can still be
// refused. Used by the leader of a group only.
class ReservedSpace {
 public:
  explicit ReservedSpace(Connection& db);

  // In a transaction, before its commit. Throws SqliteError if the disk is full.
  void reserve();
  // After a checkpoint, which may shorten the file to the pages that it has.
  void forget() { reserved_ = 0; }
  // Call it after a transaction was refused because the disk is full: gives back reserved space that the log can use.
  // Best effort.
  void give_back() noexcept;

 private:
  std::int64_t needed();

  Connection& db_;
  const std::int64_t page_size_;
  PreparedStatement page_count_;
  std::int64_t reserved_ = 0;  // bytes of the file that are known to be there
};

// The write connection and everything prepared on it. Replaced by a new one after the connection broke.
struct Session {
  Session(Connection opened, const SqliteOptions& options, GrowingIds& ids);
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  void write_sums();  // the last step of a transaction: counts the tasks it has stored and ended
  void roll_back();   // throws SqliteError if even that fails
  // Copies the log into the database. SQLITE_OK, or the code of the failure.
  //   passive   waits for no reader; pages that it could not copy are copied after a later commit
  //   truncate  waits for readers, and gives the space of the log back
  int checkpoint(int mode);
  // Whether closing the last connection copies the log into the database. It must not copy a log that may have gaps on
  // the disk.
  void checkpoint_on_close(bool wanted);
  // Brings all commits to the disk; SQLITE_OK, or the code of the failure. May run while another thread uses the
  // session.
  int sync_log() const { return log->pMethods->xSync(log, SQLITE_SYNC_NORMAL | SQLITE_SYNC_DATAONLY); }

  Connection db;
  sqlite3_file* log = nullptr;  // the WAL, open as long as the connection is
  int wal_pages = 0;            // after the last commit
  ReservedSpace space;
  PreparedStatement begin;
  PreparedStatement commit;
  HistoryTables history;
  Calls calls;
  Sums sums;
  CountTotals count_totals;
  Inserter inserter;
  TaskChanges changes;
};

// When a write is answered. In both cases, a crash of the process loses nothing that was answered.
//   on_disk    a power cut loses nothing: the commit waits for the disk, if the store was opened with full_sync
//   at_commit  a power cut may lose the last moments. For a claim or a renewal, which dies with this machine's workers
//              anyway
using Answered = GroupCommit::Entry::Answered;

class Writer {
 public:
  // close_readers closes all other connections of the store to the file.
  Writer(const SqliteOptions& options, Connection opened, const Clock& clock, Trust& trust,
         std::function<void()> close_readers);
  ~Writer();

  // Runs apply(session, now) in a transaction and returns its result. May run it again, from the start and alone, if
  // another write of its group failed.
  template <class Apply>
  auto write(std::string_view where, std::size_t rows, Answered when, Apply apply)
      -> Result<decltype(apply(std::declval<Session&>(), TimePoint{}))>;

  // If trust is broken, tries to restore it. nullopt: the file is trusted; else the reason why not.
  std::optional<Error> restore_trust(std::string_view where);
  // Returns when all commits are on the disk; at once in a store without full_sync.
  std::optional<Error> wait_for_disk(std::string_view where);

  std::uint64_t commits() const { return commits_; }
  // For rows that a transaction of the application writes.
  GrowingIds& ids() { return ids_; }

 private:
  struct Write : GroupCommit::Entry {
    Write(std::string_view verb, std::size_t rows, Answered when) : Entry(rows, when), where(verb) {}
    virtual void apply(Session& session, TimePoint now) = 0;
    const std::string_view where;
    std::optional<Error> error;
    // The number of its commit (0: not committed) and the epoch of trust
    std::uint64_t commit = 0;
    std::uint64_t epoch = 0;
  };
  struct Failed {
    Error error;
    bool alone_may_work;
    bool disk_full = false;
  };

  void run(GroupCommit::Group group);
  std::optional<Failed> transact(GroupCommit::Group group);
  void wait_for_sync(GroupCommit::Group group);
  void checkpoint();
  int copy_log(int mode);
  bool shorten_log();
  int sync_log();
  void read_back();
  void try_to_read_back();
  void retire_versions(Session& session);
  void distrust(const std::string& cause);
  void replace_session(std::unique_ptr<Session> by);
  Failed failed(const SqliteError& error, Phase phase, bool begun);
  void roll_back();

  // Fixed after construction
  const SqliteOptions options_;
  const Clock& clock_;
  Trust& trust_;
  const std::function<void()> close_readers_;

  GrowingIds ids_;

  // Used by the leader of a group only; but any thread that syncs uses the log of the session
  std::unique_ptr<Session> session_;  // null: trust is broken
  std::mutex log_mutex_;              // held to replace the session, and by other threads to use it
  std::optional<LogEnd> seen_;        // the end of the log when the session was closed
  Instant next_try_ = Instant::min();
  int checkpoint_at_;  // pages of the log

  DiskSync disk_;
  std::atomic<std::uint64_t> commits_{0};
  GroupCommit group_;
};

template <class Apply>
auto Writer::write(std::string_view where, std::size_t rows, Answered when, Apply apply)
    -> Result<decltype(apply(std::declval<Session&>(), TimePoint{}))> {
  using Answer = decltype(apply(std::declval<Session&>(), TimePoint{}));
  struct Run final : Write {
    Run(std::string_view verb, std::size_t size, Answered at, Apply& what) : Write(verb, size, at), body(what) {}
    void apply(Session& session, TimePoint now) override { answer = body(session, now); }
    Apply& body;
    std::optional<Answer> answer;
  };
  Run run{where, rows, options_.full_sync ? when : Answered::at_commit, apply};
  try {
    group_.submit(run);
  } catch (const std::exception& error) {
    return fail(Errc::unavailable, where, error.what());
  }
  if (run.error) return tl::make_unexpected(*std::move(run.error));
  return *std::move(run.answer);
}

}  // namespace easyretry::storage::sqlite
