// Persist::always: calls that take longer than their lease, in engines that were never started or are stopped
// meanwhile, while another instance works.

#include <atomic>

#include "fault/each_engine.h"
#include "support/eventually.h"

namespace easyretry::fault {
namespace {

using namespace std::chrono_literals;

class LongCall : public OnEachEngine {
 protected:
  // Both engines have it. Counts how many run at a time.
  auto handler() {
    return [this](int) {
      most_at_a_time = std::max(most_at_a_time.load(), ++at_a_time);
      ++calls;
      const Instant end = std::chrono::steady_clock::now() + 4 * kLease;
      test::eventually([&] {
        during();
        return std::chrono::steady_clock::now() >= end;
      });
      --at_a_time;
    };
  }
  EngineOptions options() const { return {.window = 1s, .lease = kLease, .drain = 100ms, .log = nullptr}; }

  static constexpr Millis kLease{2000};
  std::atomic<int> calls{0};
  std::atomic<int> at_a_time{0};
  std::atomic<int> most_at_a_time{0};
  std::function<void()> during = [] {};
};

TEST_P(LongCall, OfAnEngineThatWasNeverStartedKeepsItsLease) {
  const auto caller = open(options());
  const auto worker = open(options());
  auto call = caller->retryable("work", handler(), HandlerOptions{.persist = Persist::always});
  worker->retryable("work", handler());
  worker->start();
  EXPECT_TRUE(call(1));
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(most_at_a_time, 1);
  EXPECT_EQ(succeeded(*worker, "work"), 1U);
}

TEST_P(LongCall, KeepsItsLeaseWhenItsEngineIsStopped) {
  const auto caller = open(options());
  const auto worker = open(options());
  auto call = caller->retryable("work", handler(), HandlerOptions{.persist = Persist::always});
  worker->retryable("work", handler());
  caller->start();
  worker->start();
  std::once_flag once;
  during = [&] { std::call_once(once, [&] { caller->stop(); }); };
  EXPECT_TRUE(call(1)) << "the caller gets the result";
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(most_at_a_time, 1);
  EXPECT_EQ(succeeded(*worker, "work"), 1U);
}

ON_EACH_SERVER_AND_DAEMON(LongCall);

}  // namespace
}  // namespace easyretry::fault
