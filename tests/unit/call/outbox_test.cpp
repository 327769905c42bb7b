// pay.submit(sqlite_tx(db), order) stores the task in the application's own transaction, or not at all.

#include <atomic>

#include <sqlite3.h>

#include "support/eventually.h"
#include "support/temp_folder.h"
#include "unit/call/support.h"

namespace easyretry::test {
namespace {

using namespace std::chrono_literals;

class Db {
 public:
  explicit Db(const std::filesystem::path& file) {
    EXPECT_EQ(sqlite3_open(file.c_str(), &db_), SQLITE_OK);
    sqlite3_busy_timeout(db_, 20'000);  // the engine may be writing
  }
  ~Db() { sqlite3_close(db_); }
  Db(const Db&) = delete;
  Db& operator=(const Db&) = delete;

  void run(const char* sql) {
    ASSERT_EQ(sqlite3_exec(db_, sql, nullptr, nullptr, nullptr), SQLITE_OK) << sqlite3_errmsg(db_);
  }
  sqlite3* get() const { return db_; }

 private:
  sqlite3* db_ = nullptr;
};

struct Outbox : ::testing::Test {
  TempFolder folder;
  ManualEngine engine{quiet(), folder.sqlite_url("shop.db")};
  Db shop{folder.path() / "shop.db"};
  int calls = 0;

  auto pay() {
    return engine.retryable("pay", [this](int) { ++calls; });
  }
};

TEST_F(Outbox, ATaskIsSeenWhenTheTransactionCommits) {
  auto pay = this->pay();
  shop.run("CREATE TABLE orders (id INTEGER)");
  shop.run("BEGIN IMMEDIATE; INSERT INTO orders VALUES (7)");
  const TaskId id = pay.submit(sqlite_tx(shop.get()), 7);
  EXPECT_FALSE(engine.find(id));
  EXPECT_EQ(engine.run_due(), 0U);
  shop.run("COMMIT");
  EXPECT_TRUE(engine.find(id));
  EXPECT_EQ(engine.counts()["pay"].live(), 1);
  EXPECT_EQ(engine.run_due(), 1U);
  EXPECT_EQ(calls, 1);
}

TEST_F(Outbox, ATaskIsGoneWhenTheTransactionIsRolledBack) {
  auto pay = this->pay();
  shop.run("BEGIN IMMEDIATE");
  const TaskId id = pay.submit(sqlite_tx(shop.get()), 7);
  shop.run("ROLLBACK");
  EXPECT_FALSE(engine.find(id));
  EXPECT_TRUE(engine.counts().empty());
  EXPECT_EQ(engine.run_due(), 0U);
  EXPECT_NE(pay.submit(7), id) << "the key is free";
}

TEST_F(Outbox, AKeyThatIsLiveIsOneTaskAlsoAcrossConnections) {
  auto pay = this->pay();
  const TaskId first = pay.submit_after(1h, 7);
  shop.run("BEGIN IMMEDIATE");
  EXPECT_EQ(pay.submit(sqlite_tx(shop.get()), 7), first);
  shop.run("COMMIT");
}

TEST_F(Outbox, ABatchThatIsRefusedLeavesTheTransactionAsItWas) {
  auto pay = this->pay();
  SubmitOptions strict;
  strict.key = "order-7";
  strict.on_duplicate = OnDuplicate::reject;
  pay.with(strict).submit_after(1h, 7);
  shop.run("BEGIN IMMEDIATE; CREATE TABLE orders (id INTEGER)");
  EXPECT_THROW(pay.with(strict).submit(sqlite_tx(shop.get()), 7), DuplicateTask);
  const TaskId other = pay.submit(sqlite_tx(shop.get()), 8);
  shop.run("INSERT INTO orders VALUES (8); COMMIT");
  EXPECT_TRUE(engine.find(other));
  EXPECT_EQ(engine.counts()["pay"].live(), 2);
}

TEST_F(Outbox, AConnectionWithoutATransactionOnThisFileIsRefusedWithTheRemedy) {
  auto pay = this->pay();
  Db other{folder.path() / "other.db"};
  other.run("BEGIN");
  EXPECT_THAT(refusal([&] { pay.submit(sqlite_tx(other.get()), 7); }), HasSubstr("a transaction spans one file"));
  EXPECT_THAT(refusal([&] { pay.submit(sqlite_tx(shop.get()), 7); }), HasSubstr("run BEGIN IMMEDIATE"));
  EXPECT_THAT(refusal([&] { pay.submit(sqlite_tx(nullptr), 7); }), HasSubstr("no connection"));
  ManualEngine memory{quiet()};
  auto elsewhere = memory.retryable("pay", [](int) {});
  EXPECT_THAT(refusal([&] { elsewhere.submit(sqlite_tx(shop.get()), 7); }), HasSubstr("cannot join this transaction"));
}

TEST_F(Outbox, TheApplicationsConnectionLeavesCheckpointsToTheEngine) {
  auto pay = this->pay();
  shop.run("PRAGMA wal_autocheckpoint = 1; BEGIN IMMEDIATE");
  pay.submit(sqlite_tx(shop.get()), 7);
  shop.run("COMMIT");
  int pages = -1;
  sqlite3_exec(
      shop.get(), "PRAGMA wal_autocheckpoint",
      [](void* into, int, char** values, char**) {
        *static_cast<int*>(into) = std::stoi(values[0]);
        return 0;
      },
      &pages, nullptr);
  EXPECT_EQ(pages, 0);
}

TEST(OutboxThreads, ACommittedTaskIsRunSoonAfterItsCommit) {
  const TempFolder folder;
  const std::string url = folder.sqlite_url("shop.db");
  ManualEngine{quiet(), url}.retryable("nobody's", [](int) {}).submit(1);
  std::atomic<int> ran{0};
  EngineOptions options = quiet();
  options.window = 10min;
  Engine engine{url, options};
  auto pay = engine.retryable("pay", [&](int) { ++ran; });
  engine.start();
  // Counted at the end of the first scan: the next one would come five minutes later.
  ASSERT_TRUE(eventually([&] { return engine.stats().no_handler.contains("nobody's"); }));
  Db shop{folder.path() / "shop.db"};
  shop.run("BEGIN IMMEDIATE");
  pay.submit(sqlite_tx(shop.get()), 7);
  shop.run("COMMIT");
  EXPECT_TRUE(eventually([&] { return ran == 1; }));
}

}  // namespace
}  // namespace easyretry::test
