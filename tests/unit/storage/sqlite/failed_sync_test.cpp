// After a failed sync, the contents of the file may not be on the disk: no request is served until all of it was
// written again. Overwriting the end of the log stands for pages that the kernel dropped meanwhile.

#include <filesystem>
#include <fstream>

#include "unit/storage/sqlite/faulty_disk.h"
#include "unit/storage/sqlite/support.h"

namespace easyretry::storage::sqlite {
namespace {

constexpr Millis kPause{100};  // between two attempts

class SqliteFailedSync : public SqliteTest {
 protected:
  ~SqliteFailedSync() override { close(); }  // before the disk goes

  Result<InsertReply> try_insert(const NewTask& task) { return store().insert({&task, 1}); }
  Result<std::vector<TaskRecord>> try_find(TaskId id) { return store().find({&id, 1}); }
  bool is_there(TaskId id) { return must(try_find(id)).size() == 1; }

  std::filesystem::path log() const { return file().string() + "-wal"; }
  // The kernel drops pages that it takes for clean, and reads the disk again, where nothing was written.
  void drop_log_from(std::uintmax_t at) {
    const std::uintmax_t size = std::filesystem::file_size(log());
    std::fstream stream{log(), std::ios::in | std::ios::out | std::ios::binary};
    stream.seekp(static_cast<std::streamoff>(at));
    for (std::uintmax_t i = at; i < size; ++i) stream.put('\0');
  }

  FaultyDisk disk;
};

TEST_F(SqliteFailedSync, NothingIsReadOrStoredWhileTheDiskFails) {
  open();
  const Inserted before = insert(a_task());
  disk.fail_syncs(1'000);
  EXPECT_EQ(try_insert(a_task()).error().code, Errc::in_doubt);

  const Ticket ticket{before.id, before.version};
  const ShardCursor from{.shard = ShardId{0}};
  Settlement end;
  end.ticket = ticket;
  const auto refused = [](const auto& reply) {
    ASSERT_FALSE(reply);
    EXPECT_EQ(reply.error().code, Errc::unavailable);
    EXPECT_THAT(reply.error().detail, HasSubstr("no request is served"));
  };
  refused(try_insert(a_task()));
  refused(try_find(before.id));
  refused(store().list({}));
  refused(store().count({}));
  refused(store().counts("default"));
  refused(store().paused("default"));
  refused(store().load({.name_space = "default", .from = {&from, 1}}));
  refused(store().claim({.tickets = {&ticket, 1}, .owner = "worker", .lease = 30s}));
  refused(store().settle({&end, 1}));
  refused(store().keep());
}

TEST_F(SqliteFailedSync, TheStoreGoesOnByItselfWhenTheDiskWorksAgain) {
  open();
  const Inserted before = insert(a_task());
  const NewTask doubtful = a_task();
  disk.fail_syncs(2);  // of the insert, and of the first attempt to restore trust
  EXPECT_EQ(try_insert(doubtful).error().code, Errc::in_doubt);
  EXPECT_EQ(try_find(before.id).error().code, Errc::unavailable);
  EXPECT_EQ(try_find(before.id).error().code, Errc::unavailable) << "a failing disk is not tried all the time";
  clock.advance(kPause);
  EXPECT_TRUE(is_there(before.id));
  EXPECT_EQ(must(store().list({.key = doubtful.key})).size(), 1U)
      << "the task that could still be read is on the disk now";
  EXPECT_TRUE(insert(a_task()).created);
}

TEST_F(SqliteFailedSync, AllConnectionsAreOpenedAnew) {
  open();
  const int one_by_one = disk.logs_opened();
  disk.fail_syncs(1);
  EXPECT_FALSE(try_insert(a_task()));
  must(store().list({}));
  EXPECT_GE(disk.logs_opened(), one_by_one + 2);
}

// Writes that committed while another group waited for the sync that failed.
TEST_F(SqliteFailedSync, AClaimAfterAFailedSyncReadsTheDisk) {
  open();
  const Inserted task = insert(a_task());
  disk.fail_syncs(1);
  EXPECT_FALSE(try_insert(a_task()));
  EXPECT_EQ(claim(task).info.version, task.version + 1);
}

TEST_F(SqliteFailedSync, WritesDroppedByTheKernelAreGoneAndAcknowledgedOnesAreNot) {
  open();
  const Inserted before = insert(a_task());
  const auto acknowledged = std::filesystem::file_size(log());
  const NewTask doubtful = a_task();
  disk.fail_syncs(1);
  EXPECT_EQ(try_insert(doubtful).error().code, Errc::in_doubt);
  drop_log_from(acknowledged);
  EXPECT_TRUE(is_there(before.id));
  EXPECT_EQ(must(store().list({.key = doubtful.key})).size(), 0U);
  EXPECT_TRUE(insert(doubtful).created);
}

// The same version twice would let the first worker settle the run of the second.
TEST_F(SqliteFailedSync, AClaimThatIsLostIsNotMadeAgainWithTheSameVersion) {
  open();
  const Inserted task = insert(a_task());
  const auto acknowledged = std::filesystem::file_size(log());
  const TaskRecord lost = claim(task);
  disk.fail_syncs(1);
  EXPECT_FALSE(try_insert(a_task()));
  drop_log_from(acknowledged);

  const TaskRecord now = must(try_find(task.id)).at(0);
  EXPECT_EQ(now.info.state, TaskState::pending);
  const TaskRecord again = claim({.id = task.id, .version = now.info.version});
  EXPECT_GT(again.info.version, lost.info.version);
  EXPECT_FALSE(settle(lost, Settlement::Kind::finish).applied.at(0));
  EXPECT_TRUE(settle(again, Settlement::Kind::finish).applied.at(0));
}

TEST_F(SqliteFailedSync, ClaimsAreKeptWhereNothingIsLost) {
  open();
  const TaskRecord running = claim(insert(a_task()));
  disk.fail_syncs(1);
  EXPECT_FALSE(try_insert(a_task()));
  EXPECT_TRUE(settle(running, Settlement::Kind::finish).applied.at(0));
}

// A log without a commit has nothing to lose, whatever is left of it.
TEST_F(SqliteFailedSync, ClaimsAreKeptWhicheverCallOfTheFirstWriteFails) {
  for (std::size_t calls = 0;; ++calls) {
    open();
    const TaskRecord running = claim(insert(a_task()));
    open();
    disk.fail_after(calls, FaultyDisk::Fails::before_it_is_made);
    const bool stored = try_insert(a_task()).has_value();
    if (disk.take_back_failure()) break;
    EXPECT_FALSE(stored);
    EXPECT_TRUE(settle(running, Settlement::Kind::finish).applied.at(0)) << "call " << calls;
  }
}

TEST_F(SqliteFailedSync, AnotherProgramOnTheFileDoesNotKeepItFromBeingMended) {
  open();
  Connection shell{file(), Connection::Mode::write};
  EXPECT_EQ(shell.integer("SELECT count(*) FROM retry_task"), 0);
  disk.fail_syncs(1);
  EXPECT_FALSE(try_insert(a_task()));
  EXPECT_TRUE(insert(a_task()).created);
  EXPECT_EQ(shell.integer("SELECT count(*) FROM retry_task"), 2);
}

// It has the log's index mapped, and SQLite makes a new index only after it has closed.
TEST_F(SqliteFailedSync, WithAnotherProgramOnTheFileALogWithGapsIsNotBelieved) {
  open();
  const Inserted before = insert(a_task());
  const auto acknowledged = std::filesystem::file_size(log());
  auto shell = std::make_unique<Connection>(file(), Connection::Mode::write);
  sqlite3_db_config(shell->get(), SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
  EXPECT_EQ(shell->integer("SELECT count(*) FROM retry_task"), 1);
  disk.fail_syncs(1);
  EXPECT_FALSE(try_insert(a_task()));
  drop_log_from(acknowledged);
  const auto refused = try_find(before.id);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().detail, HasSubstr("another program"));
  shell.reset();
  clock.advance(kPause);
  EXPECT_TRUE(is_there(before.id));
  EXPECT_EQ(count(), 1);
}

TEST_F(SqliteFailedSync, ATransactionOfTheApplicationIsNotJoinedThen) {
  open();
  Connection application{file(), Connection::Mode::write};
  disk.fail_syncs(1'000);
  EXPECT_FALSE(try_insert(a_task()));
  application.run("BEGIN IMMEDIATE");
  const NewTask task = a_task();
  const auto refused = store().insert_within(sqlite_tx(application.get()), {&task, 1});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::unavailable);
  application.run("ROLLBACK");
}

class SqliteFailedCheckpoint : public SqliteFailedSync {
 protected:
  // Enough that the next write has to checkpoint first.
  void fill_log() {
    for (int i = 0; i < 90; ++i) insert(large());
  }
  void fill_log_until_refused() {
    for (int i = 0; i < 90; ++i) {
      if (!try_insert(large())) return;
    }
    ADD_FAILURE() << "the failure was not noticed";
  }
  static NewTask large() { return a_task().payload(std::string(1'000'000, 'x')); }
};

TEST_F(SqliteFailedCheckpoint, IsNoticedAndMendedLikeAnyOther) {
  open();
  insert(a_task());
  const int opened = disk.logs_opened();
  disk.fail_database_syncs(1'000);
  fill_log();
  EXPECT_GT(disk.logs_opened(), opened) << "the failure was not noticed";
  disk.fail_database_syncs(0);
  fill_log();
  EXPECT_EQ(count(), 181);
  close();
  EXPECT_EQ(ask("SELECT count(*) FROM retry_task"), 181);
  EXPECT_EQ((Connection{file(), Connection::Mode::create}.text("PRAGMA integrity_check")), "ok");
}

// If the kernel reports a failure of the log to the checkpoint, it does not report it to the next sync.
TEST_F(SqliteFailedCheckpoint, AFailureOfTheLogIsNotForgotten) {
  SqliteOptions normal = options();
  normal.full_sync = false;  // nothing syncs before the checkpoint does
  open(normal);
  const Inserted first = insert(a_task());
  disk.fail_syncs(1'000);
  fill_log_until_refused();
  EXPECT_EQ(try_find(first.id).error().code, Errc::unavailable);
  disk.fail_syncs(0);
  clock.advance(kPause);
  EXPECT_TRUE(is_there(first.id));
}

TEST_F(SqliteFailedSync, ALookUpByKeyWaitsForTheDisk) {
  open();
  const NewTask task = a_task();
  const Inserted stored = insert(task);
  claim(stored);  // does not wait
  const int before = disk.syncs();
  must(store().list({}));
  EXPECT_EQ(disk.syncs(), before);
  must(store().list({.key = task.key}));
  EXPECT_EQ(disk.syncs(), before + 1);
  must(store().list({.key = task.key}));
  EXPECT_EQ(disk.syncs(), before + 1) << "nothing was written since";
}

TEST_F(SqliteFailedSync, ALookUpByKeyWorksIfTheWriteThatMendedTheFileWasRefused) {
  open();
  NewTask task = a_task();
  insert(task);
  disk.fail_syncs(1);
  EXPECT_FALSE(try_insert(a_task()));
  task.on_duplicate = OnDuplicate::reject;
  EXPECT_EQ(try_insert(task).error().code, Errc::already_exists);
  EXPECT_EQ(must(store().list({.key = task.key})).size(), 1U);
}

TEST_F(SqliteFailedSync, AStoreThatIsClosedMeanwhileIsMendedWhenItIsOpenedAgain) {
  open();
  const Inserted before = insert(a_task());
  disk.fail_syncs(1);
  EXPECT_FALSE(try_insert(a_task()));
  disk.fail_syncs(1);
  close();
  EXPECT_GT(std::filesystem::file_size(log()), 0U)
      << "a log that may have gaps on the disk is not copied into the database";
  EXPECT_THAT(refusal(), HasSubstr("cannot be synced"));
  open();
  EXPECT_TRUE(is_there(before.id));
  EXPECT_EQ(count(), 2);
}

}  // namespace
}  // namespace easyretry::storage::sqlite
