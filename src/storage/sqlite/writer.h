#pragma once
// All writes of a store: one connection, which is also the only one that checkpoints (SQLite before 3.51.3 can lose a
// commit where two connections write and checkpoint at once), and one transaction for all that callers bring together.

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string_view>
#include <utility>

#include <easyretry/error.h>

#include "storage/durability.h"
#include "storage/group_commit.h"
#include "storage/sqlite/disk_sync.h"
#include "storage/sqlite/errors.h"
#include "storage/sqlite/session.h"
#include "storage/sqlite/trust.h"
#include "storage/sqlite/wal_chain.h"

namespace easyretry::storage::sqlite {

class Writer {
 public:
  // close_readers closes all other connections of the store to the file.
  Writer(const SqliteOptions& options, Connection opened, const Clock& clock, Trust& trust,
         std::function<void()> close_readers);
  ~Writer();

  // Runs apply(session, now) in a transaction and gives what it gave. It may be run again, from the start and on its
  // own, if another write of its group failed.
  template <class Apply>
  auto write(std::string_view where, std::size_t rows, Promise promise, Apply apply)
      -> Result<decltype(apply(std::declval<Session&>(), TimePoint{}))>;

  // Where trust is broken, tries to mend it. Nothing where it holds, else why not.
  std::optional<Error> restore_trust(std::string_view where);
  // Returns when everything that is committed is on the disk; in a store without full_sync at once.
  std::optional<Error> wait_for_disk(std::string_view where);

  std::uint64_t commits() const { return commits_; }
  // For rows that someone else's transaction writes.
  GrowingIds& ids() { return ids_; }

 private:
  struct Write : GroupCommit::Entry {
    Write(std::string_view verb, std::size_t rows, Answered when) : Entry(rows, when), where(verb) {}
    virtual void apply(Session& session, TimePoint now) = 0;
    const std::string_view where;
    std::optional<Error> error;
    // As which commit, and in which epoch of trust; 0: it was not committed
    std::uint64_t commit = 0;
    std::uint64_t epoch = 0;
  };
  struct Failed {
    Error error;
    bool alone_may_work;
  };

  void run(GroupCommit::Group group);
  std::optional<Failed> transact(GroupCommit::Group group);
  void harden(GroupCommit::Group group);
  void checkpoint();
  int sync_log();
  void read_back();
  void try_to_read_back();
  void retire_versions(Session& session);
  void distrust(const std::string& cause);
  void replace_session(std::unique_ptr<Session> by);
  GroupCommit::Entry::Answered when(Promise promise) const;
  Failed failed(const SqliteError& error, During during, bool begun);
  void roll_back();

  // Fixed after construction
  const SqliteOptions options_;
  const Clock& clock_;
  Trust& trust_;
  const std::function<void()> close_readers_;

  GrowingIds ids_;

  // Touched by the leader of a group only; of the session, whoever syncs uses the log
  std::unique_ptr<Session> session_;  // null: trust is broken
  std::mutex log_mutex_;              // held to replace the session, and by others to use it
  std::optional<LogEnd> seen_;        // when the session was closed
  Instant next_try_ = Instant::min();
  int checkpoint_at_;  // pages of the log

  DiskSync disk_;
  std::atomic<std::uint64_t> commits_{0};
  GroupCommit group_;
};

template <class Apply>
auto Writer::write(std::string_view where, std::size_t rows, Promise promise, Apply apply)
    -> Result<decltype(apply(std::declval<Session&>(), TimePoint{}))> {
  using Answer = decltype(apply(std::declval<Session&>(), TimePoint{}));
  struct Run final : Write {
    Run(std::string_view verb, std::size_t size, Answered when, Apply& what) : Write(verb, size, when), body(what) {}
    void apply(Session& session, TimePoint now) override { answer = body(session, now); }
    Apply& body;
    std::optional<Answer> answer;
  };
  Run run{where, rows, when(promise), apply};
  try {
    group_.submit(run);
  } catch (const std::exception& error) {
    return fail(Errc::unavailable, where, error.what());
  }
  if (run.error) return tl::make_unexpected(*std::move(run.error));
  return *std::move(run.answer);
}

}  // namespace easyretry::storage::sqlite
