// An engine runs while another client's transaction holds the row of one of its tasks. All other tasks run and end, and
// new ones are stored. The locked task waits, and ends once.

#include <atomic>
#include <future>
#include <latch>
#include <map>
#include <mutex>
#include <string>

#include <gmock/gmock.h>

#include <easyretry/easyretry.h>

#include "fault/each_server.h"
#include "support/eventually.h"
#include "support/server_session.h"
#include "support/test_database.h"
#include "unit/servers/foreign_lock.h"

namespace easyretry {
namespace {

using fault::kind_name;
using test::eventually;
using test::ForeignLock;
using test::ServerKind;
using namespace std::chrono_literals;

constexpr int kStored = 300;
constexpr int kMore = 100;  // are submitted while the row is locked
constexpr int kLocked = 170;

class LockedRowEngine : public fault::OnEachServer {
 protected:
  std::string url(const std::string& layout) const { return database.url() + "?layout=" + layout; }
  static std::string key(int number) { return "order-" + std::to_string(number); }

  // The handler of every test. A held task runs until it is released.
  void run(int number) {
    {
      const std::lock_guard lock{mutex};
      ++runs[number];
    }
    if (held(number)) let_go.wait();
  }
  int runs_of(int number) {
    const std::lock_guard lock{mutex};
    return runs[number];
  }
  std::string table_of(TaskId id) {
    const auto session = test::connect_session(GetParam(), database.name());
    for (const std::string& table : session->schema().tables()) {
      const bool tasks = table == "retry_task" || (table.starts_with("retry_task_") && table.size() < 14);
      if (tasks && table != "retry_task_key" && !session->find(table, false, {&id, 1}).empty()) return table;
    }
    return "nowhere";
  }
  ForeignLock lock(TaskId id) { return ForeignLock::on(GetParam(), database.name(), table_of(id), id); }

  template <class Pay>
  static TaskId submit(Pay& pay, int from, int to) {
    TaskId locked{};
    for (int i = from; i < to; ++i) {
      const TaskId id = pay.with({.key = key(i)}).submit(i);
      if (i == kLocked) locked = id;
    }
    return locked;
  }
  void expect_each_ran_once(int tasks) {
    const std::lock_guard lock{mutex};
    EXPECT_EQ(runs.size(), static_cast<std::size_t>(tasks));
    for (const auto& [number, count] : runs) EXPECT_EQ(count, 1) << number;
  }

  void others_run_while_one_is_locked(const std::string& layout);
  void others_end_while_the_end_of_one_is_locked_out(const std::string& layout);

  const test::TestDatabase database{GetParam()};
  std::function<bool(int)> held = [](int) { return false; };
  std::latch let_go{1};
  std::mutex mutex;
  std::map<int, int> runs;  // guarded by mutex
};
ON_EACH_SERVER(LockedRowEngine);

void LockedRowEngine::others_run_while_one_is_locked(const std::string& layout) {
  Engine engine{url(layout)};
  auto pay = engine.retryable("pay", [this](int number) { run(number); });
  const TaskId locked = submit(pay, 0, kStored);
  ForeignLock theirs = lock(locked);
  engine.start();
  submit(pay, kStored, kStored + kMore);
  EXPECT_TRUE(eventually([&] { return engine.stats().succeeded == kStored + kMore - 1; }));
  EXPECT_EQ(runs_of(kLocked), 0);
  theirs.let_go();
  EXPECT_TRUE(eventually([&] { return engine.stats().succeeded == kStored + kMore; }));
  engine.stop();
  expect_each_ran_once(kStored + kMore);
}

TEST_P(LockedRowEngine, OthersRunWhileAWaitingTaskIsLocked) {
  others_run_while_one_is_locked("single");
}

TEST_P(LockedRowEngine, OthersRunWhileAWaitingTaskIsLockedInSeveralTables) {
  others_run_while_one_is_locked("hash(4)");
}

void LockedRowEngine::others_end_while_the_end_of_one_is_locked_out(const std::string& layout) {
  held = [](int number) { return number == kLocked; };
  Engine engine{url(layout)};
  auto pay = engine.retryable("pay", [this](int number) { run(number); });
  engine.start();
  const TaskId locked = submit(pay, kLocked, kLocked + 1);
  ASSERT_TRUE(eventually([&] { return runs_of(kLocked) == 1; }));
  ForeignLock theirs = lock(locked);
  let_go.count_down();  // its end meets the lock, among those of others
  submit(pay, 0, kLocked);
  submit(pay, kLocked + 1, kStored);
  EXPECT_TRUE(eventually([&] { return engine.stats().succeeded == kStored - 1; }));
  submit(pay, kStored, kStored + kMore);
  EXPECT_TRUE(eventually([&] { return engine.stats().succeeded == kStored + kMore - 1; }));
  theirs.let_go();
  EXPECT_TRUE(eventually([&] { return engine.stats().succeeded == kStored + kMore; }));
  engine.stop();
  EXPECT_EQ(engine.stats().stale_settles, 0U);
  expect_each_ran_once(kStored + kMore);
}

TEST_P(LockedRowEngine, OthersEndWhileTheEndOfOneIsLockedOut) {
  others_end_while_the_end_of_one_is_locked_out("single");
}

TEST_P(LockedRowEngine, OthersEndWhileTheEndOfOneIsLockedOutInSeveralTables) {
  others_end_while_the_end_of_one_is_locked_out("hash(4)");
}

// Leases of long handlers are renewed. Only the lease of the locked task expires; that task may run again, and ends
// once.
TEST_P(LockedRowEngine, LeasesOfOthersAreRenewed) {
  constexpr int kLong = 6;
  constexpr Millis kLease = 3s;
  held = [](int) { return true; };
  Engine engine{url("single"), {.workers = 2 * kLong, .lease = kLease, .log = nullptr}};
  auto pay = engine.retryable("pay", [this](int number) { run(number); });
  engine.start();
  const TaskId locked = submit(pay, kLocked, kLocked + kLong);
  ASSERT_TRUE(eventually([&] { return engine.stats().running == kLong && runs_of(kLocked + kLong - 1) == 1; }));
  const auto sql = test::connect_plainly(GetParam(), test::shared_server_port(GetParam()), database.name());
  const auto earliest_end = [&] {
    return std::stoll(sql->run("SELECT min(lease_until) FROM retry_task WHERE id <> " + ForeignLock::number(locked)));
  };
  const auto first = earliest_end();
  ForeignLock theirs = lock(locked);
  EXPECT_TRUE(eventually([&] { return engine.stats().leases_lost == 1; }));
  EXPECT_TRUE(eventually([&] { return earliest_end() > first + 3 * kLease.count(); }));
  EXPECT_EQ(engine.stats().leases_lost, 1U);
  theirs.let_go();
  let_go.count_down();
  EXPECT_TRUE(eventually([&] { return engine.stats().running == 0 && engine.stats().succeeded == kLong; }));
  engine.stop();
  EXPECT_EQ(engine.stats().succeeded, static_cast<std::uint64_t>(kLong));
  for (int i = 1; i < kLong; ++i) EXPECT_EQ(runs_of(kLocked + i), 1);
}

// The engine's submit of the locked key waits, or reports that nothing was done. Other tasks are stored meanwhile.
TEST_P(LockedRowEngine, OnlyTheSubmitOfTheLockedKeyWaits) {
  std::atomic<bool> answered{false};
  Engine engine{url("single")};
  auto pay = engine.retryable("pay", [&](int number) {
    // If it ended before the lock of the other submit is granted, that one would rightly store a new task.
    if (number == kLocked) {
      EXPECT_TRUE(eventually([&] { return answered.load(); }));
    }
    run(number);
  });
  const TaskId locked = submit(pay, 0, kStored);
  ForeignLock theirs{GetParam(), database.name(), "DELETE FROM retry_task WHERE id = " + ForeignLock::number(locked)};
  auto again = std::async(std::launch::async, [&] {
    try {
      const TaskId id = pay.with({.key = key(kLocked)}).submit(kLocked);
      answered = true;
      return id;
    } catch (const StoreError& error) {
      answered = true;
      EXPECT_EQ(error.code(), Errc::unavailable);
      return locked;
    }
  });
  engine.start();
  submit(pay, kStored, kStored + kMore);
  EXPECT_FALSE(answered) << "others were to be faster";
  EXPECT_TRUE(eventually([&] { return engine.stats().succeeded == kStored + kMore - 1; }));
  theirs.let_go();
  EXPECT_EQ(again.get(), locked);
  EXPECT_TRUE(eventually([&] { return engine.stats().succeeded == kStored + kMore; }));
  engine.stop();
  expect_each_ran_once(kStored + kMore);
}

}  // namespace
}  // namespace easyretry
