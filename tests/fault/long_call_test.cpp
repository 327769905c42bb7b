// Persist::always: calls that take longer than their lease, in engines that were never started or are stopped
// meanwhile, beside an instance that works.

#include <atomic>
#include <thread>

#include <easyretry/easyretry.h>

#include "fault/each_server.h"
#include "support/eventually.h"
#include "support/test_database.h"

namespace easyretry::fault {
namespace {

using namespace std::chrono_literals;

class LongCall : public OnEachServer {
 protected:
  // Both engines have it. Counts how many run at a time.
  auto handler() {
    return [this](int) {
      most_at_a_time = std::max(most_at_a_time.load(), ++at_a_time);
      ++calls;
      const Instant end = std::chrono::steady_clock::now() + 4 * kLease;
      while (std::chrono::steady_clock::now() < end) {
        during();
        std::this_thread::sleep_for(10ms);
      }
      --at_a_time;
    };
  }
  EngineOptions options() const { return {.window = 1s, .lease = kLease, .drain = 100ms, .log = nullptr}; }

  static constexpr Millis kLease{1000};
  test::TestDatabase database{GetParam()};
  std::atomic<int> calls{0};
  std::atomic<int> at_a_time{0};
  std::atomic<int> most_at_a_time{0};
  std::function<void()> during = [] {};
};

TEST_P(LongCall, OfAnEngineThatWasNeverStartedKeepsItsLease) {
  Engine caller{database.url(), options()};
  Engine worker{database.url(), options()};
  auto call = caller.retryable("work", handler(), HandlerOptions{.persist = Persist::always});
  worker.retryable("work", handler());
  worker.start();
  EXPECT_TRUE(call(1));
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(most_at_a_time, 1);
  EXPECT_EQ(worker.count({.finished = true, .outcome = Outcome::succeeded}), 1);
}

TEST_P(LongCall, KeepsItsLeaseWhenItsEngineIsStopped) {
  Engine caller{database.url(), options()};
  Engine worker{database.url(), options()};
  auto call = caller.retryable("work", handler(), HandlerOptions{.persist = Persist::always});
  worker.retryable("work", handler());
  caller.start();
  worker.start();
  std::once_flag once;
  during = [&] { std::call_once(once, [&] { caller.stop(); }); };
  EXPECT_TRUE(call(1)) << "whoever made the call gets what it came to";
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(most_at_a_time, 1);
  EXPECT_EQ(worker.count({.finished = true, .outcome = Outcome::succeeded}), 1);
}

ON_EACH_SERVER(LongCall);
ON_REDIS(LongCall);

}  // namespace
}  // namespace easyretry::fault
