// A store that holds tasks of another release or another application.

#include <sqlite3.h>

#include "support/temp_folder.h"
#include "unit/call/engine_fixture.h"

namespace easyretry::test {
namespace {

using ::testing::AllOf;
using ::testing::Not;

TEST_F(EngineTest, ParksATaskWhoseStoredArgumentsDoNotFit) {
  const TempFolder folder;
  const std::string url = folder.sqlite_url();
  TaskId id{};
  {
    ManualEngine before{quiet(), url};
    id = before.retryable("pay", [](int) {}).submit(47'114'711);
  }
  std::vector<std::string> warnings;
  EngineOptions options;
  options.log = [&](LogLevel level, std::string_view text) {
    if (level == LogLevel::warning) warnings.emplace_back(text);
  };
  ManualEngine after{options, url};
  auto pay = after.retryable("pay", [&](const Order&) { ++calls; });
  std::vector<std::string> told;
  pay.on_final_failure([&](const Failure& failure, const TaskInfo&) { told.push_back(failure.message); });
  after.drain();
  EXPECT_EQ(calls, 0);
  EXPECT_EQ(after.find(id)->outcome, Outcome::parked);
  ASSERT_EQ(told.size(), 1U);
  EXPECT_THAT(told[0], AllOf(HasSubstr("do not fit"), HasSubstr("$[0]: expected an object, found an integer")));
  EXPECT_THAT(warnings, ElementsAre(HasSubstr("ended as parked after 1 attempt(s): the stored arguments do not fit")));
  EXPECT_THAT(told[0] + warnings[0], Not(HasSubstr("47114711"))) << "arguments are never logged";
}

TEST_F(EngineTest, ParksATaskWhoseArgumentsAreGoneFromTheFile) {
  const TempFolder folder;
  TaskId id{};
  {
    ManualEngine before{quiet(), folder.sqlite_url()};
    id = before.retryable("pay", [](int) {}).submit(1);
  }
  sqlite3* db = nullptr;
  ASSERT_EQ(sqlite3_open((folder.path() / "retry.db").c_str(), &db), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(db, "DELETE FROM retry_call", nullptr, nullptr, nullptr), SQLITE_OK);
  sqlite3_close(db);
  ManualEngine after{quiet(), folder.sqlite_url()};
  after.retryable("pay", [&](int) { ++calls; });
  after.drain();
  EXPECT_EQ(calls, 0);
  EXPECT_EQ(after.find(id)->outcome, Outcome::parked);
}

TEST_F(EngineTest, LeavesTasksOfUnknownHandlersAloneUntilTheyAreRegistered) {
  const TempFolder folder;
  const std::string url = folder.sqlite_url();
  TaskId id{};
  {
    ManualEngine before{quiet(), url};
    id = before.retryable("old.name", [](int) {}).submit(1);
  }
  ManualEngine after{quiet(), url};
  after.retryable("new.name", [](int) {});
  EXPECT_EQ(after.run_due(), 0U);
  EXPECT_TRUE(after.find(id)->no_handler);
  EXPECT_EQ(after.find(id)->attempts, 0);
  EXPECT_EQ(after.find(id)->deliveries, 0);
  EXPECT_EQ(after.stats().no_handler.at("old.name"), 1U);

  after.retryable("old.name", [&](int) { ++calls; });
  EXPECT_EQ(after.run_due(), 1U);
  EXPECT_EQ(calls, 1);
  EXPECT_TRUE(after.stats().no_handler.empty());
}

TEST_F(EngineTest, ApplicationsSharingAStoreDoNotSeeEachOthersTasks) {
  // One store, two namespaces: an id of one is unknown in the other.
  const TempFolder folder;
  const std::string url = folder.sqlite_url();
  TaskId id{};
  {
    EngineOptions shop = quiet();
    shop.name_space = "shop";
    ManualEngine engine_of_shop{shop, url};
    id = engine_of_shop.retryable("pay", [](int) {}).submit(1);
  }
  ManualEngine other{quiet(), url};
  other.retryable("pay", [&](int) { ++calls; });
  EXPECT_EQ(other.run_due(), 0U);
  EXPECT_FALSE(other.find(id));
  EXPECT_FALSE(other.cancel(id));
  EXPECT_EQ(calls, 0);
}

// After a thousand years of attempts, or manually edited: a version has 64 bits in every store.
TEST_F(EngineTest, RunsATaskWhoseVersionWasRaisedAbove32Bits) {
  const TempFolder folder;
  ManualEngine stored{quiet(), folder.sqlite_url()};
  const auto fail_once = [&](int) {
    if (++calls == 1) throw Busy("busy");
  };
  auto pay = stored.retryable("pay", fail_once, Policy{.backoff = Fixed{std::chrono::seconds{1}}});
  const TaskId overdue = pay.submit(1);
  const TaskId waiting = pay.submit_after(std::chrono::seconds{5}, 2);
  sqlite3* db = nullptr;
  ASSERT_EQ(sqlite3_open((folder.path() / "retry.db").c_str(), &db), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(db, "UPDATE retry_state SET version = version + (1 << 40)", nullptr, nullptr, nullptr),
            SQLITE_OK);
  sqlite3_close(db);
  stored.drain();
  EXPECT_EQ(calls, 3);
  for (const TaskId id : {overdue, waiting}) {
    EXPECT_EQ(stored.find(id)->outcome, Outcome::succeeded);
    EXPECT_GT(stored.find(id)->version, std::int64_t{1} << 40);
  }
}

}  // namespace
}  // namespace easyretry::test
