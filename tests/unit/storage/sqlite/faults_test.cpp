// Disks that fill up or fail, and another program on the file. Nothing acknowledged is lost, no error escapes as an
// exception, and the store works again when the trouble is over.
//
// The full disk is simulated in two ways: by a VFS that fails like ENOSPC, at any moment we choose, on any machine; and
// by the kernel, which under RLIMIT_FSIZE refuses to let a file grow (needs no privileges, unlike mounting a small
// disk).

#include <atomic>
#include <csignal>
#include <thread>
#include <vector>

#include <sys/resource.h>

#include "unit/storage/sqlite/faulty_disk.h"
#include "unit/storage/sqlite/support.h"

namespace easyretry::storage::sqlite {
namespace {

class SqliteFaults : public SqliteTest {
 protected:
  ~SqliteFaults() override { close(); }  // before the disk goes

  // Inserts tasks until one is refused; returns the acknowledged ids and the error.
  std::pair<std::vector<TaskId>, Error> insert_until_refused() {
    std::vector<TaskId> acknowledged;
    for (;;) {
      const NewTask task = a_task().payload(std::string(2000, 'x'));
      const auto reply = store().insert({&task, 1});
      if (!reply) return {acknowledged, reply.error()};
      acknowledged.push_back(reply->tasks.at(0).id);
    }
  }
  void expect_all_there(const std::vector<TaskId>& ids) { EXPECT_EQ(must(store().find(ids)).size(), ids.size()); }
  std::string integrity() { return Connection{file(), Connection::Mode::create}.text("PRAGMA integrity_check"); }

  FaultyDisk disk;
};

TEST_F(SqliteFaults, AFullDiskIsAnErrorThatSaysSoAndNothingIsLost) {
  open();
  const Inserted before = insert(a_task());
  disk.fill();
  const auto [acknowledged, error] = insert_until_refused();
  EXPECT_EQ(error.code, Errc::unavailable);
  EXPECT_EQ(error.where, "sqlite.insert");
  EXPECT_THAT(error.detail, HasSubstr("full"));

  expect_all_there({before.id});
  expect_all_there(acknowledged);

  disk.free();
  const Inserted after = insert(a_task());
  EXPECT_TRUE(after.created);
  close();
  EXPECT_EQ(integrity(), "ok");
  open();
  expect_all_there({before.id, after.id});
  expect_all_there(acknowledged);
}

TEST_F(SqliteFaults, ATaskRefusedOnAFullDiskIsNotStoredWhenSpaceIsFreed) {
  open();
  disk.fill();
  const auto acknowledged = insert_until_refused().first;
  disk.free();
  insert(a_task());
  EXPECT_EQ(count(), static_cast<std::int64_t>(acknowledged.size()) + 1);
}

TEST_F(SqliteFaults, ClaimsAndSettlementsSurviveAFullDisk) {
  open();
  const Inserted task = insert(a_task());
  disk.fill();
  const Ticket ticket{task.id, task.version};
  const auto refused = store().claim({.tickets = {&ticket, 1}, .owner = "worker", .lease = 30s});
  disk.free();
  const Inserted again{task.id, refused ? task.version + 1 : task.version, task.next_at, false};
  if (!refused) claim(again);
  EXPECT_EQ(must(store().find({&task.id, 1})).at(0).info.deliveries, 1);
}

TEST_F(SqliteFaults, AnUnwritableDiskKeepsTheProcessFromOpeningNotFromOpeningLater) {
  disk.fill();
  EXPECT_THAT(refusal(), HasSubstr("full"));
  disk.free();
  open();
  EXPECT_TRUE(insert(a_task()).created);
}

// The frames may or may not have reached the disk: only a query can tell.
TEST_F(SqliteFaults, ASyncThatFailsLeavesTheWriteInDoubt) {
  open();
  const Inserted before = insert(a_task());
  const NewTask task = a_task();
  disk.fail_syncs(1);
  const auto reply = store().insert({&task, 1});
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().code, Errc::in_doubt);

  const Inserted again = insert(task);  // sent again: stored once, whatever happened to the first
  EXPECT_EQ(count(), 2);
  EXPECT_FALSE(again.created);
  EXPECT_THAT(reply.error().ids, ::testing::ElementsAre(again.id));
  close();
  EXPECT_EQ(integrity(), "ok");
  open();
  expect_all_there({before.id, again.id});
  EXPECT_EQ(count(), 2);
}

TEST_F(SqliteFaults, NoWriterOfAGroupIsAcknowledgedWhenItsSyncFails) {
  open();
  disk.fail_syncs(1'000);
  std::vector<NewTask> tasks;
  for (int i = 0; i < 8; ++i) tasks.push_back(a_task());
  std::atomic<int> in_doubt = 0;
  std::atomic<int> unavailable = 0;
  {
    std::vector<std::jthread> callers;
    for (const NewTask& task : tasks) {
      callers.emplace_back([&] {
        const auto reply = store().insert({&task, 1});
        if (!reply) ++(reply.error().code == Errc::in_doubt ? in_doubt : unavailable);
      });
    }
  }
  EXPECT_EQ(in_doubt + unavailable, 8);
  EXPECT_GE(in_doubt, 1);
  disk.fail_syncs(0);
  clock.advance(1s);
  EXPECT_TRUE(insert(a_task()).created);
  EXPECT_EQ(count(), in_doubt + 1) << "the refused task is not stored";
}

TEST_F(SqliteFaults, AnotherProgramsTransactionMakesWritesUnavailableForAsLongAsItLasts) {
  open();
  Connection shell{file(), Connection::Mode::write};
  shell.run("BEGIN IMMEDIATE");
  const NewTask task = a_task();
  const auto reply = store().insert({&task, 1});
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().code, Errc::unavailable);
  EXPECT_THAT(reply.error().detail, HasSubstr("write lock"));
  EXPECT_EQ(count(), 0) << "reading goes on";

  shell.run("ROLLBACK");
  EXPECT_TRUE(insert(task).created);
}

std::string limited_run(const std::function<std::string()>& body) {
  std::signal(SIGXFSZ, SIG_IGN);
  return body();
}

void limit_file_size(rlim_t bytes) {
  rlimit limit{};
  ::getrlimit(RLIMIT_FSIZE, &limit);
  limit.rlim_cur = bytes;
  ::setrlimit(RLIMIT_FSIZE, &limit);
}

class SqliteRealFaults : public SqliteTest {};

TEST_F(SqliteRealFaults, TheKernelRefusingToGrowTheFileLosesNothingAcknowledged) {
  const std::string story = in_child([&] {
    return limited_run([&] {
      open();
      limit_file_size(256 * 1024);
      int acknowledged = 0;
      std::optional<Error> refused;
      while (!refused && acknowledged < 10'000) {
        const NewTask task = a_task().payload(std::string(2000, 'x'));
        const auto reply = store().insert({&task, 1});
        reply ? static_cast<void>(++acknowledged) : static_cast<void>(refused = reply.error());
      }
      if (!refused) return std::string{"never refused"};
      limit_file_size(RLIM_INFINITY);
      const NewTask last = a_task();
      if (!store().insert({&last, 1})) return std::string{"does not work again"};
      return std::to_string(acknowledged + 1 - count());
    });
  });
  EXPECT_THAT(story, ::testing::AnyOf("0", "-1")) << "-1: the refused one was in doubt and is stored";
  EXPECT_EQ((Connection{file(), Connection::Mode::create}.text("PRAGMA integrity_check")), "ok");
}

}  // namespace
}  // namespace easyretry::storage::sqlite
