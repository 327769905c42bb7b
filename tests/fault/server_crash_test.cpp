// The database server is killed under load, again and again; the process that uses it stays.

#include <iostream>

#include "fault/each_server.h"
#include "fault/verdict.h"
#include "storage/open.h"
#include "support/eventually.h"

namespace easyretry::fault {
namespace {

using namespace std::chrono_literals;

constexpr int kTasks = 3'000;
constexpr std::size_t kCrashes = 5;

class CrashingServer : public OnEachServer {
 protected:
  // At a random moment of the next part of the work.
  void crash_once(std::size_t number) {
    const std::size_t part = kTasks / (kCrashes + 1);
    const std::size_t moment = number * part + dice_.up_to(part);
    ASSERT_TRUE(test::eventually([&] { return crew_.submitted() >= moment; }, 60s))
        << "the worker did not recover from crash " << number;
    server_.kill();
    server_.start();
  }

  test::DatabaseServer server_{GetParam()};
  Crew crew_{server_.url()};
  Dice dice_;
};

ON_EACH_OWN_SERVER(CrashingServer);
ON_OWN_REDIS(CrashingServer);

TEST_P(CrashingServer, KeepsAcknowledgedTasksAndTheWorkerRecoversByItself) {
  SCOPED_TRACE(dice_.trace());
  const int worker = crew_.start(kTasks);
  for (std::size_t crash = 0; crash < kCrashes; ++crash) ASSERT_NO_FATAL_FAILURE(crash_once(crash));

  const auto store = storage::open_store(server_.url(), system_clock());
  ASSERT_TRUE(test::eventually([&] { return crew_.submitted() == kTasks && all_done(*store); }, 60s));
  crew_.kill(worker);
  const Verdict verdict = judge(*store, crew_);
  EXPECT_GE(verdict.acked, kTasks / 2);
  std::cout << kCrashes << " crashes: " << verdict << "\n";
}

}  // namespace
}  // namespace easyretry::fault
