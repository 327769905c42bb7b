// A server that cannot notify its clients is polled often enough.

#include <atomic>

#include <gtest/gtest.h>

#include <easyretry/easyretry.h>

#include "support/eventually.h"
#include "support/test_database.h"

namespace easyretry {
namespace {

using namespace std::chrono_literals;

TEST(MysqlPolling, FindsATaskOfAnotherProcessSoonHoweverLongTheWindowIs) {
  const test::TestDatabase database{test::ServerKind::mariadb};
  const EngineOptions drowsy{.window = 10min, .grace = 24h, .log = nullptr};
  std::atomic<int> runs{0};
  Engine runner{database.url(), drowsy};
  runner.retryable("count", [&](int) { ++runs; });
  runner.start();
  Engine submitter{database.url(), drowsy};
  const auto count = submitter.retryable("count", [](int) { FAIL() << "it was never started"; });
  for (int task = 1; task <= 2; ++task) {
    count.submit(task);
    ASSERT_TRUE(test::eventually([&] { return runs == task; }));
  }
}

}  // namespace
}  // namespace easyretry
