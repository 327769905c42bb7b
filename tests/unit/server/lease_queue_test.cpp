#include "server/lease_queue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <easyretry/testing.h>

namespace easyretry::server {
namespace {

using namespace std::chrono_literals;
using engine::RunPtr;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

struct LeaseQueueTest : ::testing::Test {
  // lent[name] has the number of tasks in each response.
  std::uint64_t ask(const std::string& name, std::vector<std::string> handlers, std::size_t most, Millis wait = 10s) {
    return queue->wait({std::move(handlers), most, clock.steady() + wait,
                        [this, name](const std::vector<RunPtr>& runs) { lent[name].push_back(runs.size()); }});
  }
  static std::vector<RunPtr> runs(std::size_t n, std::size_t bytes = 0) {
    std::vector<RunPtr> all;
    task::TaskRecord record;
    record.payload.assign(bytes, 'x');
    for (std::size_t i = 0; i < n; ++i) {
      all.push_back(std::make_shared<engine::Run>(record, nullptr, engine::HandlerNo{}, Instant::max()));
    }
    return all;
  }

  testing::ManualClock clock;
  engine::Wakeup wanted;
  std::vector<RunPtr> handed_back;
  int attended = 0;
  std::shared_ptr<LeaseQueue> queue = std::make_shared<LeaseQueue>(
      clock, wanted,
      [this](const auto& unfetched) { handed_back.insert(handed_back.end(), unfetched.begin(), unfetched.end()); },
      [this] { ++attended; });
  std::shared_ptr<engine::RemoteExecutor> mail = queue->of("mail");
  std::shared_ptr<engine::RemoteExecutor> pay = queue->of("pay");
  std::map<std::string, std::vector<std::size_t>> lent;
};

TEST_F(LeaseQueueTest, ThereIsRoomForAsManyTasksAsAreRequested) {
  EXPECT_EQ(mail->room(0), 0U);
  ask("a", {"mail"}, 3);
  ask("b", {"mail", "pay"}, 2);
  EXPECT_EQ(mail->room(0), 5U);
  EXPECT_EQ(mail->room(4), 1U);
  EXPECT_EQ(mail->room(9), 0U);
  EXPECT_EQ(pay->room(0), 2U);
}

TEST_F(LeaseQueueTest, OnlyAWorkerThatJudgesMayHaveOnSuccessAndBeforeOneHasAskedAnyWorkerMay) {
  const std::vector<std::string> mails{"mail"};
  const std::vector<std::string> pays{"pay"};
  EXPECT_TRUE(mail->may_tell(Outcome::succeeded));
  EXPECT_TRUE(mail->may_tell(Outcome::rejected));
  queue->asked_by(LeaseQueue::Worker::plain, mails);
  EXPECT_FALSE(mail->may_tell(Outcome::succeeded));
  EXPECT_FALSE(mail->may_tell(Outcome::rejected));
  queue->asked_by(LeaseQueue::Worker::judges, pays);
  EXPECT_TRUE(pay->may_tell(Outcome::succeeded));
  EXPECT_FALSE(pay->may_tell(Outcome::rejected)) << "the engine knows of those that have on_final_failure";
}

TEST_F(LeaseQueueTest, RequestsAreServedOnceAndInOrder) {
  ask("a", {"mail"}, 2);
  ask("b", {"mail"}, 2);
  mail->take(runs(3));
  EXPECT_THAT(lent["a"], ElementsAre(2));
  EXPECT_THAT(lent["b"], ElementsAre(1)) << "at once, with what there is";
  EXPECT_EQ(mail->room(0), 0U);
}

TEST_F(LeaseQueueTest, TasksThatDoNotFitAreKeptForTheNextRequestAndThenHandedBack) {
  ask("a", {"mail", "pay"}, 1);
  mail->take(runs(1));
  pay->take(runs(2));
  EXPECT_THAT(lent["a"], ElementsAre(1));
  ask("b", {"pay"}, 1);
  EXPECT_THAT(lent["b"], ElementsAre(1));
  EXPECT_EQ(queue->step().wake, clock.steady() + 1s);
  clock.advance(1s);
  queue->step();
  EXPECT_THAT(handed_back, SizeIs(1));
}

TEST_F(LeaseQueueTest, AResponseHoldsEightMebibytesOrOneTask) {
  ask("a", {"mail"}, 10);
  mail->take(runs(10, 1'000'000));
  EXPECT_THAT(lent["a"], ElementsAre(8));
  ask("a", {"mail"}, 10);
  EXPECT_THAT(lent["a"], ElementsAre(8, 2)) << "kept for the next request";
  ask("b", {"mail"}, 10);
  mail->take(runs(2, 20'000'000));
  EXPECT_THAT(lent["b"], ElementsAre(1));
  ask("b", {"mail"}, 10);
  EXPECT_THAT(lent["b"], ElementsAre(1, 1));
}

TEST_F(LeaseQueueTest, ARequestIsAnsweredWithoutTasksAfterItsWait) {
  ask("a", {"mail"}, 1, 5s);
  EXPECT_EQ(queue->step().wake, clock.steady() + 5s);
  clock.advance(5s);
  queue->step();
  EXPECT_THAT(lent["a"], ElementsAre(0));
  EXPECT_EQ(mail->room(0), 0U);
}

TEST_F(LeaseQueueTest, ARequestThatLeftGetsNothing) {
  const auto number = ask("a", {"mail"}, 1);
  EXPECT_TRUE(queue->leave(number));
  EXPECT_FALSE(queue->leave(number));
  mail->take(runs(1));
  EXPECT_THAT(lent["a"], IsEmpty());
}

TEST_F(LeaseQueueTest, AHandlerIsAttendedWhileARequestWaitsAndAMomentLonger) {
  EXPECT_FALSE(mail->attended());
  const auto number = ask("a", {"mail"}, 1, 60s);
  EXPECT_EQ(attended, 1);
  clock.advance(30s);
  EXPECT_TRUE(mail->attended());
  EXPECT_FALSE(pay->attended());
  queue->leave(number);
  clock.advance(9s);
  EXPECT_TRUE(mail->attended()) << "it may be busy with what it took";
  clock.advance(1s);
  EXPECT_FALSE(mail->attended());
  ask("a", {"mail"}, 1);
  EXPECT_TRUE(mail->attended());
  EXPECT_EQ(attended, 2);
  ask("b", {"mail"}, 1);
  EXPECT_EQ(attended, 2) << "that is nothing new";
}

TEST_F(LeaseQueueTest, AHandlerForWhichNoWorkerEverAskedHasNoWorkers) {
  ask("a", {"mail"}, 1);
  const LeaseQueue::Workers workers = queue->workers_of("pay");
  EXPECT_EQ(workers.asked_ago, std::nullopt);
  EXPECT_EQ(workers.waiting, 0U);
}

TEST_F(LeaseQueueTest, TheWorkersThatWaitAreCountedForEachOfTheirHandlers) {
  ask("a", {"mail", "pay"}, 1);
  clock.advance(3s);
  ask("b", {"mail"}, 5);
  EXPECT_EQ(queue->workers_of("mail").waiting, 2U);
  EXPECT_EQ(queue->workers_of("mail").asked_ago, 0s);
  EXPECT_EQ(queue->workers_of("pay").waiting, 1U);
  EXPECT_EQ(queue->workers_of("pay").asked_ago, 3s);
}

TEST_F(LeaseQueueTest, AWorkerThatAskedAnHourAgoIsRememberedAndNoLongerWaits) {
  ask("a", {"mail"}, 1, 5s);
  clock.advance(5s);
  queue->step();
  clock.advance(1h);
  const LeaseQueue::Workers workers = queue->workers_of("mail");
  EXPECT_EQ(workers.asked_ago, 1h) << "since it stopped waiting";
  EXPECT_EQ(workers.waiting, 0U);
  EXPECT_FALSE(mail->attended());
}

TEST_F(LeaseQueueTest, AClosedQueueAnswersAllRequests) {
  ask("a", {"mail"}, 1);
  queue->close();
  ask("b", {"mail"}, 1);
  EXPECT_THAT(lent["a"], ElementsAre(0));
  EXPECT_THAT(lent["b"], ElementsAre(0));
  mail->take(runs(1));
  queue->step();
  EXPECT_THAT(handed_back, SizeIs(1));
}

}  // namespace
}  // namespace easyretry::server
