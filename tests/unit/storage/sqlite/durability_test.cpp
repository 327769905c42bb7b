// Acknowledged tasks are there after the process was killed, whenever that happened.

#include <csignal>

#include "unit/storage/sqlite/faulty_disk.h"
#include "unit/storage/sqlite/support.h"

namespace easyretry::storage::sqlite {
namespace {

class SqliteDurability : public SqliteTest {
 protected:
  // Starts a process that stores task after task and reports each acknowledgement, and kills it after `kill_after`
  // reports. Returns the ids it acknowledged.
  std::vector<TaskId> acknowledged_before_kill(std::size_t kill_after) {
    int pipe[2];
    if (::pipe(pipe) != 0) throw std::runtime_error("no pipe");
    const pid_t child = ::fork();
    if (child == 0) store_for_ever(pipe[1]);
    ::close(pipe[1]);
    std::vector<TaskId> ids;
    TaskId id{};
    while (ids.size() < kill_after && ::read(pipe[0], &id, sizeof id) == sizeof id) ids.push_back(id);
    ::kill(child, SIGKILL);
    while (::read(pipe[0], &id, sizeof id) == sizeof id) ids.push_back(id);  // reported, but not yet read
    ::close(pipe[0]);
    ::waitpid(child, nullptr, 0);
    return ids;
  }

 private:
  [[noreturn]] void store_for_ever(int out) {
    open();
    for (;;) {
      const TaskId id = insert(a_task().key("k" + std::to_string(::getpid()) + "/" + std::to_string(next_++))).id;
      if (::write(out, &id, sizeof id) != sizeof id) _exit(1);
    }
  }
  int next_ = 0;
};

TEST_F(SqliteDurability, EverythingAcknowledgedIsThereAfterAKill) {
  std::vector<TaskId> all;
  for (const std::size_t after : {1U, 7U, 50U, 333U}) {
    const auto ids = acknowledged_before_kill(after);
    EXPECT_GE(ids.size(), after);
    all.insert(all.end(), ids.begin(), ids.end());
    open();
    EXPECT_EQ(must(store().find(all)).size(), all.size());
    close();
    EXPECT_EQ((Connection{file(), Connection::Mode::create}.text("PRAGMA integrity_check")), "ok");
  }
}

TEST_F(SqliteDurability, AnAcknowledgedWriteIsInTheFileBeforeTheStoreIsClosed) {
  open();
  insert(a_task());
  EXPECT_EQ(ask("SELECT count(*) FROM retry_task"), 1);
}

// A power cut that loses a claim also ends every worker of this machine, and the task is claimed again.
TEST_F(SqliteDurability, TasksAndOutcomesWaitForTheDiskAndClaimsDoNot) {
  FaultyDisk disk;
  const auto syncs_of = [&](const auto& write) {
    const int before = disk.syncs();
    write();
    return disk.syncs() - before;
  };
  open();
  Inserted task;
  EXPECT_EQ(syncs_of([&] { task = insert(a_task()); }), 1);
  TaskRecord running;
  EXPECT_EQ(syncs_of([&] { running = claim(task); }), 0);
  const Ticket ticket{running.info.id, running.info.version};
  const Renewal renewal{ticket, 30s};
  EXPECT_EQ(syncs_of([&] { must(store().renew({&renewal, 1})); }), 0);
  Settlement done;
  done.ticket = ticket;
  EXPECT_EQ(syncs_of([&] { must(store().settle({&done, 1})); }), 1);
  close();
}

TEST_F(SqliteDurability, WithoutFullSyncNoCommitWaitsForTheDisk) {
  FaultyDisk disk;
  SqliteOptions normal = options();
  normal.full_sync = false;
  open(normal);
  insert(a_task());
  const int before = disk.syncs();
  for (int i = 0; i < 10; ++i) insert(a_task());
  EXPECT_EQ(disk.syncs(), before);
  close();
}

TEST_F(SqliteDurability, TheStoreSaysWhatItSurvives) {
  open();
  EXPECT_THAT(store().info().durability.words, HasSubstr("and a power cut"));
  SqliteOptions normal = options();
  normal.full_sync = false;
  open(normal);
  EXPECT_THAT(store().info().durability.words, HasSubstr("a power cut may lose the last moments"));
}

}  // namespace
}  // namespace easyretry::storage::sqlite
