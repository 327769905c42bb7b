// A small disk, filled by SQLite's own log or by another program's file. Nothing acknowledged is lost, and work goes on
// as soon as there is space.

#include <algorithm>
#include <iostream>
#include <vector>

#include <gtest/gtest.h>

#include "fault/kept_promises.h"
#include "fault/starvation.h"
#include "fault/thin_disk.h"
#include "storage/sqlite/connection.h"
#include "storage/sqlite/sqlite_store.h"
#include "support/eventually.h"
#include "support/task_builder.h"

namespace easyretry::fault {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using test::a_task;

constexpr int kMegabytes = 12;
constexpr std::uintmax_t kMegabyte = 1024 * 1024;

std::int64_t last_start(Crew& crew) {
  std::int64_t last = 0;
  for (const JournalEvent& event : crew.events()) {
    if (event.what == "start") last = std::max(last, event.micros);
  }
  return last;
}

class FullDiskOfSqlite : public ::testing::Test {
 protected:
  fs::path file() const { return disk_.path() / "retry.db"; }
  fs::path log() const { return file().string() + "-wal"; }
  void open() { store_ = storage::open_sqlite({.path = file()}, system_clock()); }
  void close() { store_.reset(); }
  storage::Store& store() { return *store_; }

  std::vector<storage::Ticket> insert(int tasks, std::size_t payload) {
    std::vector<storage::NewTask> batch;
    for (int i = 0; i < tasks; ++i) batch.push_back(a_task().payload(std::string(payload, 'x')));
    std::vector<storage::Ticket> tickets;
    const auto reply = store().insert(batch);
    if (!reply) return tickets;
    for (const auto& task : reply->tasks) tickets.push_back({task.id, task.version});
    return tickets;
  }

  // One attempt of each task that fails and is to be repeated at once. Empty: it was possible.
  std::string try_once(std::vector<storage::Ticket>& tasks) {
    const auto claimed = store().claim({.tickets = tasks, .owner = "worker", .lease = 30s});
    if (!claimed) return claimed.error().detail;
    std::vector<storage::Settlement> settlements;
    for (const auto& record : claimed->won) {
      storage::Settlement& retry = settlements.emplace_back();
      retry.ticket = {record.info.id, record.info.version};
      retry.kind = storage::Settlement::Kind::retry;
      retry.error = std::string(500, 'e');
    }
    const auto settled = store().settle(settlements);
    if (!settled) return settled.error().detail;
    for (storage::Ticket& task : tasks) task.version += 2;
    return claimed->won.size() == tasks.size() ? "" : "some were not claimed";
  }

  void expect_undamaged() {
    close();
    storage::sqlite::Connection db{file(), storage::sqlite::Connection::Mode::read};
    EXPECT_EQ(db.text("PRAGMA integrity_check"), "ok");
  }

  SmallDisk disk_{kMegabytes};
  std::unique_ptr<storage::Store> store_;
};

TEST_F(FullDiskOfSqlite, ALogThatHasFilledItIsShortenedAndWorkContinues) {
  open();
  auto tasks = insert(300, 200);
  ASSERT_EQ(tasks.size(), 300U);
  std::uintmax_t written = 0;  // by the log
  for (std::uintmax_t before = 0; written < 4 * kMegabytes * kMegabyte;) {
    ASSERT_EQ(try_once(tasks), "") << "after " << written / kMegabyte << " MiB";
    const std::uintmax_t now = fs::file_size(log());
    written += now > before ? now - before : now;
    before = now;
  }
  EXPECT_EQ(store().find({&tasks.front().id, 1}).value().size(), 1U);
  expect_undamaged();
}

TEST_F(FullDiskOfSqlite, TasksHaveMostOfItAndOneThatDoesNotFitIsRefused) {
  open();
  std::size_t stored = 0;
  while (!insert(20, 2000).empty()) stored += 20;
  EXPECT_GT(fs::file_size(file()), kMegabytes * kMegabyte * 2 / 3);
  EXPECT_EQ(store().count({}).value(), static_cast<std::int64_t>(stored));
  expect_undamaged();
}

// Larger than the disk is: the pages that it has left in the log are given back.
TEST_F(FullDiskOfSqlite, ABatchThatCannotBeStoredDoesNotKeepASmallOneOut) {
  open();
  ASSERT_FALSE(insert(100, 2000).empty());
  EXPECT_TRUE(insert(30, 1'000'000).empty());
  EXPECT_FALSE(insert(100, 2000).empty());
  EXPECT_TRUE(insert(30, 1'000'000).empty());
  EXPECT_FALSE(insert(1000, 2000).empty());
  expect_undamaged();
}

// The next request works, without a restart, and an engine's next one is at most 2 s away (pause_after_failures).
TEST_F(FullDiskOfSqlite, AnotherProgramsFileStopsWorkOnlyUntilItIsGone) {
  open();
  ASSERT_TRUE(test::eventually([&] {
    disk_.fill();  // once more: the log may have been shortened
    return insert(100, 2000).empty();
  }));
  disk_.free();
  EXPECT_EQ(insert(1, 2000).size(), 1U);
  expect_undamaged();
}

// The other file takes nearly all of the disk before the process can, so that there is space when it is gone. How soon
// is a promise (docs/databases.md).
TEST_F(FullDiskOfSqlite, AProcessContinuesWithinTwoSecondsOfThereBeingSpaceAgain) {
  constexpr Millis kPromised = 2s;
  const std::string url = "sqlite:" + file().string();
  Crew crew{url};
  const int life = crew.start(100'000);
  const auto grows = [&] {
    const std::size_t before = acknowledged(crew);
    return test::eventually([&] { return acknowledged(crew) >= before + 20; }, 60s);
  };
  ASSERT_TRUE(grows());
  const auto stopped = [&] {
    disk_.fill();  // once more: the log may have been shortened
    const std::size_t before = acknowledged(crew);
    return !test::eventually([&] { return acknowledged(crew) > before; }, 1s);
  };
  ASSERT_TRUE(test::eventually(stopped, 60s));
  test::eventually([&] { return disk_.fill(), false; }, 6s);  // until the engine's pauses are the longest
  const Starvation starvation;
  const std::size_t before = acknowledged(crew);
  const std::int64_t freed = wall_micros();
  disk_.free();
  const auto stores = test::time_until([&] { return acknowledged(crew) > before; }, 60s);
  const auto runs = test::time_until([&] { return last_start(crew) > freed; }, 60s);
  ASSERT_TRUE(stores && runs) << "the process does not go on";
  std::cout << "stores after " << stores->count() << " ms, runs after " << (*stores + *runs).count()
            << " ms; starved for " << starvation.longest().count() << " ms\n";
  EXPECT_LE(*stores + *runs, kPromised + 1s + starvation.longest());
  EXPECT_TRUE(grows());
  crew.kill(life);
  expect_all_acknowledged_in(url, crew);
}

}  // namespace
}  // namespace easyretry::fault
