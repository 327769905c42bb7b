// Replays what can be lost between two steps of mx-rmq; nothing is lost between ours.

#include "mxrmq/settler.h"
#include "unit/mxrmq/support.h"

namespace easyretry::mxrmq {
namespace {

class LossWindows : public QueueTest {
 protected:
  // A worker runs it in the end.
  void expect_run() {
    clock.move(2h);
    reaper.adopt(std::string{kTopic});
    reaper.reap();
    clock.move(2h);
    reaper.reap();
    clock.move(2h);
    promote(link);
    EXPECT_TRUE(completed(claimed("the last").lease));
    expect_nothing_left();
  }

  Reaper reaper{link, {.worker = "reaper"}};
};

TEST_F(LossWindows, AWorkerOfOursDiesAfterItsClaim) {
  produced();
  claimed();
  expect_run();
}

TEST_F(LossWindows, AReaperDiesBetweenItsTwoSteps) {
  produced();
  claimed();
  clock.move(1min);
  const ReapedBatch first = reap(link, "dies", 1min, 10);
  ASSERT_THAT(first.messages, SizeIs(1));
  EXPECT_EQ(first.messages[0].lost, 1);
  EXPECT_THAT(reap(link, "other", 1min, 10).messages, IsEmpty()) << "for a minute it is the first one's";
  clock.move(1min);
  const ReapedBatch second = reap(link, "other", 1min, 10);
  ASSERT_THAT(second.messages, SizeIs(1));
  EXPECT_FALSE(retried(first.messages[0].taken)) << "too late";
  EXPECT_TRUE(retried(second.messages[0].taken));
}

TEST_F(LossWindows, ALateWorkerChangesNothingThatAReaperHasTaken) {
  produced();
  const LeasedMessage late = claimed();
  clock.move(1min);
  const ReapedBatch reaped = reap(link, "reaper", 1min, 10);
  EXPECT_FALSE(completed(late.lease));
  EXPECT_TRUE(retried(reaped.messages.at(0).taken));
  EXPECT_FALSE(completed(late.lease));
  EXPECT_EQ(number({"HEXISTS", "shop:payloads", "m1:queue"}), 1);
}

TEST_F(LossWindows, APythonWorkerDiesWithItsLease) {
  produced();
  python_takes();
  python_leases("m1");
  expect_run();
}

// 1.11, 2: it dies before it writes the lease. A delayed or retried message has no entry in expires then.
TEST_F(LossWindows, APythonWorkerDiesBeforeItsLease) {
  ASSERT_TRUE(produce_delayed(link, a_message(), 1s));
  clock.move(1s);
  promote(link);
  python_takes();
  EXPECT_EQ(reaper.reap().settled, 0);
  EXPECT_EQ(reaper.adopt(std::string{kTopic}), 1);
  EXPECT_EQ(reaper.adopt(std::string{kTopic}), 0) << "it has a deadline now";
  expect_run();
}

TEST_F(LossWindows, AdoptingLeavesALiveWorkersLeaseAlone) {
  produced();
  python_takes();
  python_leases("m1", 180s);
  EXPECT_EQ(reaper.adopt(std::string{kTopic}), 0);
  EXPECT_EQ(text({"ZSCORE", "shop:expires", "m1"}), std::to_string(clock.millis() + 180'000));
}

// 1.11, 5
TEST_F(LossWindows, AnIdWithoutABodyDoesNotStayInProcessing) {
  run({"LPUSH", "shop:orders:processing", "nobody"});
  reaper.adopt(std::string{kTopic});
  expect_nothing_left();
}

// 1.11, 3: the topic is gone, the id is delayed, and the body was written again.
TEST_F(LossWindows, ARetryAfterACompletionIsRunAndNotForgotten) {
  const std::string json = to_json(a_message());
  produced();
  python_takes();
  python_leases("m1");
  python_completes("m1");
  python_retries("m1", json, 1s);
  clock.move(1s);
  promote(link);
  EXPECT_EQ(text({"HGET", "shop:payloads", "m1:queue"}), "shop:orders");
  EXPECT_TRUE(completed(claimed().lease));
  expect_nothing_left();
}

// 1.11, 4
TEST_F(LossWindows, AnUnreadableMessageOfADeadWorkerIsSetAside) {
  produced();
  run({"HSET", "shop:payloads", "m1", "{broken"});
  python_takes();
  python_leases("m1");
  clock.move(1h);
  EXPECT_EQ(reaper.reap().settled, 1);
  EXPECT_THAT(list("errors"), ElementsAre("m1"));
  EXPECT_THAT(text({"HGET", "shop:errors:data", "m1"}), HasSubstr("{broken"));
  run({"DEL", "shop:errors", "shop:errors:data"});
  expect_nothing_left();
}

TEST_F(LossWindows, OneWithoutATopicAndUnreadableIsSetAsideToo) {
  run({"HSET", "shop:payloads", "m1", "{broken"});
  run({"ZADD", "shop:expires", "1", "m1"});
  EXPECT_EQ(reaper.reap().settled, 1);
  EXPECT_THAT(list("errors"), ElementsAre("m1"));
}

// 1.11, 10: Python makes a second copy of a message that waited too long.
TEST_F(LossWindows, AMessageThatWasNotTakenInTimeIsADeadLetterAndNotACopy) {
  produced();
  clock.move(25h);
  EXPECT_EQ(reaper.reap().settled, 1);
  EXPECT_THAT(list("dlq"), ElementsAre("m1"));
  EXPECT_EQ(parse_message(dead_letter(link, "m1")).meta.last_error, "ttl_expired");
  EXPECT_THAT(claim(link, kTopic, "w", 30s, 1).messages, IsEmpty()) << "its id is dropped";
  EXPECT_THAT(list("orders:pending"), IsEmpty());
}

// 1.11, 15 and 16
TEST_F(LossWindows, AMessageThatKillsItsWorkersReachesTheDeadLetters) {
  produced();
  for (int life = 1; life <= 3; ++life) {
    claimed("life-" + std::to_string(life));
    clock.move(1min);
    EXPECT_EQ(reaper.reap().settled, 1);
    EXPECT_EQ(text({"ZSCORE", "shop:delays", "m1"}), std::to_string(clock.millis() + 60'000)) << "the first delay";
    clock.move(1min);
    promote(link);
  }
  claimed("life-4");
  clock.move(1min);
  EXPECT_EQ(reaper.reap().settled, 1);
  EXPECT_EQ(parse_message(dead_letter(link, "m1")).meta.last_error, "worker lost 4 times");
  EXPECT_EQ(number({"EXISTS", "shop:cxx:lost"}), 0);
}

// 1.11, 9: a late Python worker deletes what we hold; our retry must not bring back half of it.
TEST_F(LossWindows, AMessageThatPythonHasCompletedMeanwhileIsNotRetried) {
  produced();
  const LeasedMessage taken = claimed();
  python_completes("m1");
  EXPECT_FALSE(retried(taken));
  EXPECT_EQ(number({"EXISTS", "shop:payloads", "shop:delays"}), 0);
}

TEST_F(LossWindows, DeadlinesOfEndedMessagesAreForgotten) {
  run({"ZADD", "shop:expires", "1", "nobody"});
  run({"HSET", "shop:cxx:lost", "nobody", "1"});
  EXPECT_EQ(reaper.reap().settled, 0);
  expect_nothing_left();
}

TEST_F(LossWindows, ManyAreReapedInSlices) {
  for (int i = 0; i < 45; ++i) produced(std::to_string(i));
  EXPECT_THAT(claim(link, kTopic, "w", 30s, 100).messages, SizeIs(45));
  clock.move(1min);
  for (const bool more : {true, true, false}) EXPECT_EQ(reaper.reap().more, more);
  EXPECT_EQ(number({"ZCARD", "shop:delays"}), 45);
}

}  // namespace
}  // namespace easyretry::mxrmq
