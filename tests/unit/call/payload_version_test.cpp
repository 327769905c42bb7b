// Two releases of one application, one after the other, on one store.

#include "support/temp_folder.h"
#include "unit/call/support.h"

namespace easyretry::test {
namespace {

using namespace std::chrono_literals;

struct Payloads : ::testing::Test {
  TempFolder folder;
  std::string url = folder.sqlite_url();
  std::vector<std::string> seen;

  TaskId submitted_by_release_1() {
    ManualEngine engine{quiet(), url};
    return engine.retryable("pay", [](const std::string&) {}).submit("7");
  }
  static HandlerOptions release_2(decltype(HandlerOptions::upgrade) upgrade) {
    HandlerOptions options;
    options.payload_version = 2;
    options.upgrade = std::move(upgrade);
    return options;
  }
};

TEST_F(Payloads, OldArgumentsAreUpgradedBeforeTheyAreDecoded) {
  const TaskId id = submitted_by_release_1();
  ManualEngine engine{quiet(), url};
  engine.retryable(
      "pay", [&](const std::string& order, int amount) { seen.push_back(order + "/" + std::to_string(amount)); }, {},
      release_2([](int from, std::string arguments) {
        EXPECT_EQ(from, 1);
        arguments.back() = ',';
        return arguments + "5]";
      }));
  engine.run_due();
  EXPECT_THAT(seen, ElementsAre("7/5"));
  EXPECT_EQ(engine.find(id)->outcome, Outcome::succeeded);
}

TEST_F(Payloads, AnUpgradeThatThrowsParksTheTask) {
  const TaskId id = submitted_by_release_1();
  ManualEngine engine{quiet(), url};
  engine.retryable(
      "pay", [](const std::string&, int) {}, {},
      release_2([](int, const std::string&) -> std::string { throw std::runtime_error("no amount"); }));
  engine.run_due();
  EXPECT_EQ(engine.find(id)->outcome, Outcome::parked);
  EXPECT_THAT(engine.find(id)->last_error, HasSubstr("version 1 could not be upgraded: no amount"));
}

TEST_F(Payloads, NewerArgumentsAreLeftToANewerRelease) {
  TaskId id{};
  {
    ManualEngine engine{quiet(), url};
    id = engine
             .retryable(
                 "pay", [](const std::string&, int) {}, {}, release_2({}))
             .submit("7", 5);
  }
  ManualEngine engine{quiet(), url};
  engine.retryable("pay", [&](const std::string&) { seen.emplace_back("ran"); });
  engine.run_due();
  EXPECT_THAT(seen, ElementsAre());
  EXPECT_EQ(engine.find(id)->state, TaskState::pending);
  EXPECT_EQ(engine.find(id)->attempts, 0);
  EXPECT_EQ(engine.find(id)->next_at, engine.clock().now() + 30s);
}

}  // namespace
}  // namespace easyretry::test
