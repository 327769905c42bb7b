// Two kinds of processes in one namespace, each with its own handler: every shard has tasks of both, and none of them
// waits until an instance looks for overdue tasks.

#include <iostream>

#include <gtest/gtest.h>

#include "fault/each_server.h"
#include "fault/lateness.h"
#include "fault/load.h"
#include "fault/starvation.h"
#include "fault/verdict.h"
#include "storage/open.h"
#include "support/eventually.h"
#include "support/test_database.h"

namespace easyretry::fault {
namespace {

using namespace std::chrono_literals;

constexpr int kOfEachKind = 2;
constexpr int kRounds = 4;
constexpr Millis kGenerous{3000};  // a thirtieth of `grace`

class MixedFleet : public OnEachServer {
 protected:
  void start(const std::string& handler) {
    for (int i = 0; i < kOfEachKind; ++i) crew_.start(kNoTasksButStay, {.variables = {{"HANDLER", handler}}});
  }

  // Tasks for each shard, due one after the other.
  static void submit(const RetryableFn<Answer(int)>& handler, int first) {
    std::vector<int> numbers;
    for (int i = 0; i < kRounds * kShards; ++i) numbers.push_back(first + i);
    const TimePoint begin = system_clock().now() + 2s;
    handler.submit_many(numbers, [&](int number) {
      return SubmitOptions{.key = key_of(number),
                           .business_id = business_ids().at(static_cast<std::size_t>(number % kShards)),
                           .due_at = begin + Millis{10 * (number - first)}};
    });
  }

  Lateness lateness() {
    Lateness times;
    for (const JournalEvent& event : crew_.events()) {
      if (event.what == "start") times.add_micros(event.micros - event.due);
    }
    return times;
  }

  static constexpr int kNoTasksButStay = 1;

  const test::TestDatabase database_{GetParam()};
  const std::unique_ptr<storage::Store> store_ = storage::open_store(database_.url(), system_clock());
  Crew crew_{database_.url(), {{"EASYRETRY_GRACE", "90s"}, {"EASYRETRY_LEASE", "6s"}}};
};

ON_EACH_SERVER(MixedFleet);
ON_REDIS(MixedFleet);

TEST_P(MixedFleet, RunsEachTaskInTimeWhereverItsHandlerIs) {
  start("red");
  start("blue");
  ASSERT_TRUE(test::eventually([&] { return members_in(*store_)().size() == 2 * kOfEachKind; }));
  Engine submitter{database_.url()};  // never started
  const auto red = submitter.retryable(
      "red", [](int) { return done(); }, policy_of_work());
  const auto blue = submitter.retryable(
      "blue", [](int) { return done(); }, policy_of_work());
  const Starvation starvation;
  submit(red, 100 * kNumbersPerLife);
  submit(blue, 101 * kNumbersPerLife);
  EXPECT_TRUE(test::eventually([&] { return all_done(*store_); }, 60s)) << "tasks wait for the sweep";
  const Lateness times = lateness();
  std::cout << "begun after the due time: " << times << "; starved for " << starvation.longest().count() << " ms\n";
  EXPECT_GE(times.size(), 2U * kRounds * kShards);
  EXPECT_LE(times.of(1), kGenerous + starvation.longest());
}

}  // namespace
}  // namespace easyretry::fault
