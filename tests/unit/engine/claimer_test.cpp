// How due tasks are claimed, and what happens if the store does not answer, or its answer is lost.

#include "engine/claimer.h"

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/engine/forwarding_store.h"
#include "unit/engine/virtual_instance.h"

namespace easyretry::engine {
namespace {

using namespace std::chrono_literals;
using ::testing::IsEmpty;

enum class Loses { nothing, request, reply };

// Loses the requests or the replies of claims, or is away altogether.
class LossyClaims final : public ForwardingStore {
 public:
  using ForwardingStore::ForwardingStore;

  Loses loses = Loses::nothing;
  bool away = false;
  bool find_fails = false;
  std::vector<std::vector<task::Ticket>> claims;

  Result<storage::ClaimReply> claim(const storage::ClaimRequest& request) override {
    claims.emplace_back(request.tickets.begin(), request.tickets.end());
    if (away) return fail(Errc::unavailable, "lossy", "away");
    if (loses == Loses::nothing) return whole_.claim(request);
    if (loses == Loses::reply) static_cast<void>(whole_.claim(request));
    return fail(Errc::in_doubt, "lossy", "the connection was lost");
  }
  Result<std::vector<task::TaskRecord>> find(std::span<const TaskId> ids) override {
    if (away || find_fails) return fail(Errc::unavailable, "lossy", "away");
    return whole_.find(ids);
  }
};

class ClaimerTest : public ::testing::Test {
 protected:
  ClaimerTest() {
    instance.handle("pay", [this] { ++calls; });
  }
  void run() {
    instance.run_handlers();
    instance.settle();
  }
  void wait_a_little() { shared.clock.advance(3s); }  // longer than any pause after failures

  SharedStore shared;
  const std::shared_ptr<LossyClaims> store = std::make_shared<LossyClaims>(shared.clock);
  VirtualInstance instance{(shared.store = store, shared)};
  int calls = 0;
};

TEST_F(ClaimerTest, DueTasksAreClaimedInOneBatchInTheOrderOfTheirIds) {
  for (const char* key : {"c", "a", "b"}) instance.submit("pay", key);
  instance.claim();
  ASSERT_EQ(store->claims.size(), 1U);
  EXPECT_EQ(store->claims[0].size(), 3U);
  EXPECT_TRUE(std::ranges::is_sorted(store->claims[0]));
  run();
  EXPECT_EQ(calls, 3);
}

TEST_F(ClaimerTest, ATaskThatAnotherInstanceWonIsNotRunHere) {
  const TaskId id = instance.submit("pay", "k");
  VirtualInstance other{shared};
  other.handle("pay", [] {});
  other.claim();
  instance.core.pause_watch().look_now();
  instance.core.pause_watch().step();
  instance.core.claimers()[0].step();
  run();
  EXPECT_EQ(calls, 0);
  EXPECT_EQ(instance.core.stats().lost_claims, 1U);
  EXPECT_EQ(instance.core.schedule().held(), 0U);
  EXPECT_EQ(instance.look(id).info.state, TaskState::running);
}

TEST_F(ClaimerTest, AClaimWhoseReplyWasLostIsFoundAndRunOnceWithoutACrash) {
  const TaskId id = instance.submit("pay", "k");
  store->loses = Loses::reply;
  instance.claim();
  run();
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(instance.look(id).info.outcome, Outcome::succeeded);
  EXPECT_EQ(instance.look(id).info.crashes, 0);
  EXPECT_EQ(instance.look(id).info.deliveries, 1);
}

TEST_F(ClaimerTest, AClaimThatNeverArrivedIsMadeAgain) {
  const TaskId id = instance.submit("pay", "k");
  store->loses = Loses::request;
  instance.claim();
  run();
  EXPECT_EQ(calls, 0);
  store->loses = Loses::nothing;
  wait_a_little();
  instance.all();
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(instance.look(id).info.attempts, 1);
}

TEST_F(ClaimerTest, TasksStayInMemoryWhileTheStoreIsAwayAndAreClaimedAfterAPause) {
  instance.submit("pay", "k");
  store->away = true;
  instance.claim();
  EXPECT_EQ(instance.core.schedule().held(), 1U);
  EXPECT_TRUE(instance.core.schedule().paused());
  instance.core.claimers()[0].step();
  EXPECT_EQ(store->claims.size(), 1U) << "not again before the pause is over";
  store->away = false;
  wait_a_little();
  instance.core.pause_watch().step();
  instance.core.claimers()[0].step();
  run();
  EXPECT_EQ(calls, 1);
}

// Left alone, the task would come back as a crash that never happened.
TEST_F(ClaimerTest, ALostReplyIsLookedForUntilTheStoreAnswersAndNothingIsClaimedMeanwhile) {
  const TaskId first = instance.submit("pay", "first");
  store->loses = Loses::reply;
  store->find_fails = true;
  instance.claim();
  const TaskId second = instance.submit("pay", "second");
  store->loses = Loses::nothing;
  for (int i = 0; i < 3; ++i) {
    wait_a_little();
    instance.core.pause_watch().step();
    instance.core.claimers()[0].step();
  }
  EXPECT_EQ(store->claims.size(), 1U);
  store->find_fails = false;
  wait_a_little();
  instance.core.pause_watch().step();
  instance.core.claimers()[0].step();
  instance.core.claimers()[0].step();
  run();
  EXPECT_EQ(calls, 2);
  for (const TaskId id : {first, second}) EXPECT_EQ(instance.look(id).info.crashes, 0);
}

TEST_F(ClaimerTest, ATaskReadTwiceIsRunOnceEvenIfTheReplyOfTheSecondClaimIsLost) {
  const TaskId id = instance.submit("pay", "k");
  instance.claim();
  const DueTask stale{{id, 1}, shared.clock.now(), 0};
  instance.core.schedule().offer({&stale, 1});
  store->loses = Loses::request;
  instance.core.claimers()[0].step();
  run();
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(instance.look(id).info.outcome, Outcome::succeeded);
}

TEST_F(ClaimerTest, NothingIsClaimedAfterTheScheduleWasStopped) {
  instance.submit("pay", "k");
  instance.core.schedule().stop();
  instance.claim();
  EXPECT_THAT(store->claims, IsEmpty());
}

TEST_F(ClaimerTest, ALeaseIsTrustedForNineTenthsOfItsTimeFromTheRequest) {
  const TaskId id = instance.submit("pay", "k");
  const Instant before = shared.clock.steady();
  instance.claim();
  const RunPtr run = instance.core.in_flight().find(id);
  ASSERT_NE(run, nullptr);
  EXPECT_LE(run->trusted_until.load(), before + instance.core.options().lease * 9 / 10);
  EXPECT_GT(run->trusted_until.load(), before + instance.core.options().lease * 8 / 10);
}

}  // namespace
}  // namespace easyretry::engine
