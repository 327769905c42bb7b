// Persist::always for real: the caller's process is killed inside the call, and the next one makes the call again.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <easyretry/easyretry.h>

#include "fault/child.h"
#include "storage/open.h"
#include "support/eventually.h"
#include "support/temp_folder.h"

namespace easyretry::fault {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

std::vector<storage::TaskRecord> rows(const std::string& url, bool finished) {
  storage::TaskQuery query;
  query.name_space = "default";
  query.finished = finished;
  return storage::open_store(url, system_clock())->list(query).value();
}

// The engine of the next process, until it has ended one task.
struct NextProcess {
  std::vector<std::string> calls;
  std::vector<std::string> told;
  TimePoint called_at{};

  void run(const std::string& url) {
    EngineOptions options;
    options.window = 100ms;
    Engine engine{url, options};
    auto pay = engine.retryable("pay", [this](const std::string& order, int cents) {
      called_at = system_clock().now();
      calls.push_back(order + " " + std::to_string(cents));
    });
    pay.on_success([this](const TaskInfo& task) { told.push_back(to_string(task.id)); });
    engine.start();
    EXPECT_TRUE(test::eventually([&] { return engine.stats().succeeded == 1; }));
  }
};

TEST(KilledInsideACall, LeavesALeasedTaskThatTheNextProcessRunsOnceTheLeaseHasRunOut) {
  const test::TempFolder folder;
  const std::string url = folder.sqlite_url();
  Child caller{CALL_WORKER, {url}};
  const std::string id = caller.read_line();
  ASSERT_FALSE(id.empty()) << "it never came to the call";
  ASSERT_TRUE(WIFSIGNALED(caller.kill()));

  const auto left = rows(url, false);
  ASSERT_THAT(left, SizeIs(1));
  EXPECT_EQ(to_string(left[0].info.id), id);
  EXPECT_EQ(left[0].info.state, TaskState::running);
  EXPECT_THAT(left[0].locked_by, HasSubstr(":" + std::to_string(caller.pid()) + ":"));
  EXPECT_EQ(left[0].info.attempts, 1);
  EXPECT_EQ(left[0].info.crashes, 0) << "no instance has noticed yet";

  NextProcess next;
  next.run(url);
  EXPECT_THAT(next.calls, ElementsAre("order-7 1250"));
  EXPECT_THAT(next.told, ElementsAre(id));
  EXPECT_GE(next.called_at, left[0].lease_until);

  EXPECT_THAT(rows(url, false), SizeIs(0));
  const auto ended = rows(url, true);
  ASSERT_THAT(ended, SizeIs(1));
  EXPECT_EQ(to_string(ended[0].info.id), id);
  EXPECT_EQ(ended[0].info.outcome, Outcome::succeeded);
  EXPECT_EQ(ended[0].info.crashes, 1);
  EXPECT_EQ(ended[0].info.attempts, 1) << "the crash is counted apart";
  EXPECT_EQ(ended[0].info.deliveries, 2);
}

}  // namespace
}  // namespace easyretry::fault
