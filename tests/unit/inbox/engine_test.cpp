// Plain SQL in an application's own transaction, and engines that take it from there.

#include <atomic>
#include <mutex>
#include <set>
#include <string>

#include <easyretry/easyretry.h>

#include "unit/inbox/support.h"

namespace easyretry {
namespace {

using ::testing::HasSubstr;

class InboxEngine : public Inbox {
 protected:
  void start(Engine& engine) {
    engine.retryable("count", [this](int number) {
      const std::lock_guard lock{mutex_};
      ++runs_;
      numbers_.insert(number);
      info_ = current_task()->info;
    });
    engine.start();
  }
  int runs() {
    const std::lock_guard lock{mutex_};
    return runs_;
  }
  bool comes_to(int wanted) {
    return eventually([&] { return runs() == wanted; });
  }

  std::mutex mutex_;
  int runs_ = 0;           // guarded by mutex_
  std::set<int> numbers_;  // guarded by mutex_
  TaskInfo info_;          // guarded by mutex_; of the last run
  // Only news and polling are quick enough.
  const EngineOptions options_{.window = 10min, .poll = 50ms, .grace = 24h, .log = nullptr};
};

INSTANTIATE_TEST_SUITE_P(Postgres, InboxEngine, ::testing::Values(ServerKind::postgres));
INSTANTIATE_TEST_SUITE_P(Mariadb, InboxEngine, ::testing::Values(ServerKind::mariadb));

TEST_P(InboxEngine, RunsCommittedRowsOnceAndRolledBackRowsNever) {
  Engine engine{url(), options_};
  start(engine);
  sql("CREATE TABLE orders (id int)");
  sql("BEGIN");
  sql("INSERT INTO orders VALUES (1)");
  ask_for("count", "[1]");
  say_so();
  sql("ROLLBACK");
  sql("BEGIN");
  sql("INSERT INTO orders VALUES (2)");
  ask_for("count", "[2]");
  say_so();
  sql("COMMIT");
  ASSERT_TRUE(comes_to(1));
  EXPECT_EQ(numbers_, std::set{2});
  EXPECT_EQ(in_the_inbox(), 0);
  EXPECT_EQ(engine.stats().stored, 1U);
}

TEST_P(InboxEngine, EveryColumnCounts) {
  Engine engine{url(), options_};
  start(engine);
  const std::string trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
  sql("INSERT INTO retry_inbox (namespace, method_name, params_json, task_key, business_type, business_id, "
      "traceparent, "
      "delay_ms) VALUES ('default', 'count', ' [ 7 ] ', 'order-7', 'order', '7', '" +
      trace + "', 1)");
  say_so();
  ASSERT_TRUE(comes_to(1));
  EXPECT_EQ(info_.key, "order-7");
  EXPECT_EQ(info_.business_type, "order");
  EXPECT_EQ(info_.business_id, "7");
  EXPECT_EQ(info_.traceparent, trace);
}

TEST_P(InboxEngine, ALaterTimeIsKept) {
  Engine engine{url(), options_};
  start(engine);
  const TimePoint before = system_clock().now();
  sql("INSERT INTO retry_inbox (method_name, params_json, task_key, delay_ms) VALUES ('count', '[1]', 'k', 3600000)");
  say_so();
  ASSERT_TRUE(eventually([&] { return engine.stats().stored == 1; }));
  const std::string due = sql("SELECT next_retry_time FROM retry_task WHERE task_key = 'k'");
  EXPECT_GE(std::stoll(due), (before + 59min).time_since_epoch().count());
  EXPECT_EQ(runs(), 0);
}

TEST_P(InboxEngine, ManyRowsAreTakenOnceByInstancesThatTakeAtTheSameTime) {
  constexpr int kRows = 1'000;
  EngineOptions small = options_;
  small.batch = 20;
  Engine one{url(), small};
  Engine two{url(), small};
  Engine three{url(), small};
  sql("BEGIN");
  for (int i = 0; i < kRows; ++i) ask_for("count", "[" + std::to_string(i) + "]");
  say_so();
  sql("COMMIT");
  for (Engine* engine : {&one, &two, &three}) start(*engine);
  ASSERT_TRUE(eventually([&] { return runs() >= kRows && in_the_inbox() == 0; }, 60s));
  EXPECT_EQ(one.stats().stored + two.stats().stored + three.stats().stored, std::uint64_t{kRows});
  EXPECT_EQ(runs(), kRows);
  EXPECT_EQ(numbers_.size(), std::size_t{kRows});
}

TEST_P(InboxEngine, ARowThatCannotBecomeATaskStaysWithTheReasonAndBlocksNoOther) {
  Engine engine{url(), options_};
  start(engine);
  for (const char* wrong : {"[1", "{}", "\"1\""}) ask_for("count", wrong);
  ask_for("count", "[1]");
  say_so();
  ASSERT_TRUE(comes_to(1));
  ASSERT_TRUE(eventually([&] { return in_the_inbox() == 3; }));
  EXPECT_THAT(error(), HasSubstr("params_json is not a JSON array of arguments"));
  EXPECT_EQ(sql("SELECT count(*) FROM retry_inbox WHERE refused_at IS NOT NULL"), "3");

  sql("UPDATE retry_inbox SET params_json = '[2]', refused_at = NULL");
  say_so();
  EXPECT_TRUE(comes_to(2)) << "three equal calls without a key are one task";
  EXPECT_TRUE(eventually([&] { return in_the_inbox() == 0; }));
}

TEST_P(InboxEngine, ATooLargeRowIsRefused) {
  EngineOptions small = options_;
  small.max_payload = 100;
  Engine engine{url(), small};
  engine.retryable("say", [](const std::string&) {});
  engine.start();
  ask_for("say", "[\"" + std::string(200, 'x') + "\"]");
  say_so();
  ASSERT_TRUE(eventually([&] { return !error().empty(); }));
  EXPECT_THAT(error(), HasSubstr("max_payload"));
}

TEST_P(InboxEngine, ARowOfAnUnknownHandlerWaitsForAnInstanceWithIt) {
  Engine without{url(), options_};
  std::atomic<int> others{0};
  without.retryable("other", [&] { ++others; });
  without.start();
  ask_for("count", "[1]");
  ask_for("other", "[]");
  say_so();
  ASSERT_TRUE(eventually([&] { return others == 1; }));
  EXPECT_EQ(in_the_inbox(), 1);
  EXPECT_EQ(error(), "");
  // Its shard may be the other one's, who lacks the handler.
  EngineOptions soon = options_;
  soon.grace = 100ms;
  soon.window = 1s;
  Engine with{url(), soon};
  start(with);
  EXPECT_TRUE(comes_to(1));
}

TEST_P(InboxEngine, RowsOfAnotherApplicationAreLeftAlone) {
  Engine engine{url(), options_};
  start(engine);
  sql("INSERT INTO retry_inbox (namespace, method_name, params_json) VALUES ('bank', 'count', '[1]')");
  ask_for("count", "[2]");
  say_so();
  ASSERT_TRUE(comes_to(1));
  EXPECT_EQ(numbers_, std::set{2});
  EXPECT_EQ(in_the_inbox(), 1);
}

}  // namespace
}  // namespace easyretry
