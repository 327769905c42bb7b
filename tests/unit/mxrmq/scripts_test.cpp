// Each script: what it changes in Redis, and what it refuses.

#include "unit/mxrmq/support.h"

namespace easyretry::mxrmq {
namespace {

using Scripts = QueueTest;

TEST_F(Scripts, ProduceStoresTheSameAsPython) {
  produced();
  EXPECT_EQ(text({"HGET", "shop:payloads", "m1"}), to_json(a_message()));
  EXPECT_EQ(text({"HGET", "shop:payloads", "m1:queue"}), "shop:orders");
  EXPECT_EQ(text({"ZSCORE", "shop:expires", "m1"}), std::to_string(clock.millis() + 86'400'000));
  EXPECT_THAT(list("orders:pending"), ElementsAre("m1"));
}

TEST_F(Scripts, ProduceTwiceIsOnce) {
  produced();
  EXPECT_FALSE(produce(link, a_message(), 24h));
  EXPECT_FALSE(produce_delayed(link, a_message(), 5s));
  EXPECT_THAT(list("orders:pending"), ElementsAre("m1"));
  EXPECT_EQ(number({"ZCARD", "shop:delays"}), 0);
}

TEST_F(Scripts, HighOnesAreTakenFirst) {
  produced("a");
  produced("b");
  Message high = a_message("high");
  high.priority = Priority::high;
  ASSERT_TRUE(produce(link, high, 24h));
  const Claim all = claim(link, kTopic, "w", 30s, 10);
  ASSERT_THAT(all.messages, SizeIs(3));
  EXPECT_EQ(all.messages[0].lease.id, "high");
  EXPECT_EQ(all.messages[1].lease.id, "a");
  EXPECT_EQ(all.messages[2].lease.id, "b");
}

TEST_F(Scripts, ADelayedMessageIsPendingWhenItIsDue) {
  ASSERT_TRUE(produce_delayed(link, a_message(), 5s));
  EXPECT_EQ(text({"ZSCORE", "shop:delays", "m1"}), std::to_string(clock.millis() + 5'000));
  EXPECT_EQ(promote(link).next, 5'000);
  clock.move(4'999ms);
  EXPECT_EQ(promote(link).due, 0);
  clock.move(1ms);
  EXPECT_EQ(promote(link).due, 1);
  EXPECT_EQ(promote(link).next, -1);
  EXPECT_THAT(list("orders:pending"), ElementsAre("m1"));
}

TEST_F(Scripts, PromotionGoesInSlices) {
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(produce_delayed(link, a_message(std::to_string(i)), 1s));
  clock.move(1s);
  EXPECT_EQ(promote(link, 3).due, 3);
  EXPECT_EQ(promote(link, 3).due, 2);
}

// The messages published on a channel, which all databases of a server share.
class Listener {
 public:
  explicit Listener(const std::string& channel)
      : context_(redisConnect("127.0.0.1", test::shared_server_port(test::ServerKind::redis)), redisFree) {
    redisSetTimeout(context_.get(), {.tv_sec = 20, .tv_usec = 0});
    freeReplyObject(redisCommand(context_.get(), "SUBSCRIBE %s", channel.c_str()));
  }
  std::string next() {
    void* reply = nullptr;
    if (redisGetReply(context_.get(), &reply) != REDIS_OK) return "nothing";
    return std::string{Reply{static_cast<redisReply*>(reply)}.text(2)};
  }

 private:
  std::unique_ptr<redisContext, decltype(&redisFree)> context_;
};

TEST_F(Scripts, DelaysAreAnnouncedWhereTheyAreTheNext) {
  const std::string prefix = "shop" + database.name();
  QueueConnection own{options("?prefix=" + prefix)};
  Listener listener{prefix + ":delay:wake"};
  const auto in = [&](Millis delay) { return std::to_string(clock.millis() + delay.count()); };
  ASSERT_TRUE(produce_delayed(own, a_message("first"), 50s));
  ASSERT_TRUE(produce_delayed(own, a_message("later"), 60s));
  ASSERT_TRUE(produce_delayed(own, a_message("earlier"), 40s));
  ASSERT_TRUE(produce(own, a_message("retried"), 24h));
  const Claim taken = claim(own, kTopic, "w", 30s, 1);
  const Retry again{taken.messages.at(0).lease, 10s, taken.messages.at(0).json};
  ASSERT_TRUE(retry(own, kTopic, {&again, 1}).front());
  EXPECT_EQ(listener.next(), in(50s));
  EXPECT_EQ(listener.next(), in(40s));
  EXPECT_EQ(listener.next(), in(10s));
}

TEST_F(Scripts, AClaimLeasesInTheSameStep) {
  produced();
  const LeasedMessage taken = claimed("worker-1", 30s);
  EXPECT_EQ(taken.json, to_json(a_message()));
  EXPECT_THAT(list("orders:pending"), IsEmpty());
  EXPECT_THAT(list("orders:processing"), IsEmpty()) << "only with in_flight=list";
  EXPECT_EQ(text({"ZSCORE", "shop:expires", "m1"}), std::to_string(clock.millis() + 30'000));
}

TEST_F(Scripts, AClaimListsItsMessagesInProcessingOnRequest) {
  QueueConnection listing{options("?prefix=shop&in_flight=list")};
  produced();
  const Claim taken = claim(listing, kTopic, "w", 30s, 1);
  EXPECT_THAT(list("orders:processing"), ElementsAre("m1"));
  EXPECT_TRUE(completed(taken.messages.at(0).lease));
  EXPECT_THAT(list("orders:processing"), IsEmpty());
}

TEST_F(Scripts, AClaimDropsIdsWithoutABodyAndDuplicatesOfHeldIds) {
  run({"LPUSH", "shop:orders:pending", "nobody"});
  produced();
  run({"LPUSH", "shop:orders:pending", "m1"});
  const Claim taken = claim(link, kTopic, "w", 30s, 10);
  EXPECT_THAT(taken.messages, SizeIs(1));
  EXPECT_THAT(list("orders:pending"), IsEmpty());
}

TEST_F(Scripts, CompleteLeavesNothing) {
  produced();
  EXPECT_TRUE(completed(claimed().lease));
  expect_nothing_left();
}

TEST_F(Scripts, OnlyTheHolderOfAMessageCanChangeIt) {
  produced();
  const LeasedMessage taken = claimed("worker-1");
  const LeasedMessage stranger{{"m1", "worker-2"}, taken.json};
  EXPECT_FALSE(completed(stranger.lease));
  EXPECT_FALSE(retried(stranger));
  EXPECT_FALSE(buried(stranger));
  EXPECT_FALSE(release(link, kTopic, {&stranger.lease, 1}).front());
  EXPECT_FALSE(heartbeat(link, 30s, {&stranger.lease, 1}).front());
  EXPECT_FALSE(set_aside(link, kTopic, {&stranger, 1}).front());
  EXPECT_TRUE(completed(taken.lease));
  EXPECT_FALSE(completed(taken.lease)) << "told again";
}

// The score is Python's now, although the token is still there.
TEST_F(Scripts, AMessageThatPythonHasTakenIsNoLongerOurs) {
  produced();
  const LeasedMessage taken = claimed();
  python_times_out("m1");
  EXPECT_FALSE(completed(taken.lease)) << "Python is about to retry it";
  python_retries("m1", taken.json, 0s);
  promote(link);
  python_takes();
  python_leases("m1");
  EXPECT_FALSE(completed(taken.lease)) << "a worker of Python's has it";
  EXPECT_FALSE(retried(taken));
  EXPECT_FALSE(heartbeat(link, 1h, {&taken.lease, 1}).front());
  EXPECT_EQ(text({"HGET", "shop:payloads", "m1"}), taken.json);
}

TEST_F(Scripts, ARetryIsDelayedWithItsNewBody) {
  produced();
  LeasedMessage taken = claimed();
  taken.json = R"({"topic":"orders","payload":{},"new":1})";
  EXPECT_TRUE(retried(taken, 7s));
  EXPECT_EQ(text({"ZSCORE", "shop:delays", "m1"}), std::to_string(clock.millis() + 7'000));
  EXPECT_EQ(text({"HGET", "shop:payloads", "m1"}), taken.json);
  EXPECT_EQ(number({"EXISTS", "shop:expires", "shop:cxx:own"}), 0);
}

TEST_F(Scripts, ARetryWithoutATopicIsRefused) {
  produced();
  const LeasedMessage taken = claimed();
  run({"HDEL", "shop:payloads", "m1:queue"});
  EXPECT_FALSE(retried(taken));
  EXPECT_EQ(number({"ZCARD", "shop:delays"}), 0);
}

TEST_F(Scripts, ADeadLetterKeepsBodyAndTopic) {
  produced();
  EXPECT_TRUE(buried(claimed()));
  EXPECT_THAT(list("dlq"), ElementsAre("m1"));
  EXPECT_EQ(text({"HGET", "shop:dlq:data", "m1:queue"}), "shop:orders");
  EXPECT_EQ(text({"HGET", "shop:dlq:data", "m1"}), to_json(a_message()));
  run({"DEL", "shop:dlq", "shop:dlq:data"});
  expect_nothing_left();
}

TEST_F(Scripts, ReleasedMessagesAreTheNext) {
  produced("a");
  produced("b");
  const LeasedMessage first = claimed();
  EXPECT_EQ(first.lease.id, "a");
  EXPECT_TRUE(release(link, kTopic, {&first.lease, 1}).front());
  EXPECT_EQ(claimed("other").lease.id, "a");
}

TEST_F(Scripts, AHeartbeatMakesALeaseLongerAndNeverShorter) {
  produced();
  const LeasedMessage taken = claimed("w", 30s);
  const auto deadline = [&] { return text({"ZSCORE", "shop:expires", "m1"}); };
  clock.move(20s);
  EXPECT_TRUE(heartbeat(link, 30s, {&taken.lease, 1}).front());
  EXPECT_EQ(deadline(), std::to_string(clock.millis() + 30'000));
  const std::string before = deadline();
  EXPECT_TRUE(heartbeat(link, 1s, {&taken.lease, 1}).front());
  EXPECT_EQ(deadline(), before);
  EXPECT_TRUE(completed(taken.lease));
}

TEST_F(Scripts, UnreadableMessagesAreSetAsideAndTheOldestGiveWay) {
  for (const char* id : {"a", "b", "c"}) {
    produced(id);
    const LeasedMessage taken{claimed().lease,
                              parse_error_record(id, "{broken", "orders", "message is not JSON at all", 5)};
    EXPECT_TRUE(set_aside(link, kTopic, {&taken, 1}, 2).front());
  }
  EXPECT_THAT(list("errors"), ElementsAre("c", "b"));
  EXPECT_EQ(text({"HGET", "shop:errors:data", "c"}),
            R"({"original_payload":"{broken","error_type":"parse_error","error_message":"message is not JSON ",)"
            R"("topic":"orders","timestamp":"5","message_id":"c"})");
  EXPECT_EQ(number({"HEXISTS", "shop:errors:data", "a"}), 0);
  run({"DEL", "shop:errors", "shop:errors:data"});
  expect_nothing_left();
}

TEST_F(Scripts, RequeueingADeadLetterTwiceIsOnce) {
  produced();
  ASSERT_TRUE(buried(claimed()));
  const std::string before = dead_letter(link, "m1");
  EXPECT_EQ(requeue(link, "m1", before, before, kTopic, 0ms), Requeued::done);
  EXPECT_EQ(requeue(link, "m1", before, before, kTopic, 0ms), Requeued::gone);
  EXPECT_THAT(list("orders:pending"), ElementsAre("m1"));
  EXPECT_EQ(number({"EXISTS", "shop:dlq", "shop:dlq:data"}), 0) << "both fields of dlq:data";
  EXPECT_TRUE(completed(claimed().lease));
  expect_nothing_left();
}

TEST_F(Scripts, RequeueingRefusesChangedAndLiveLetters) {
  produced();
  ASSERT_TRUE(buried(claimed()));
  const std::string before = dead_letter(link, "m1");
  EXPECT_EQ(requeue(link, "m1", "{}", before, kTopic, 0ms), Requeued::changed);
  produced();
  EXPECT_EQ(requeue(link, "m1", before, before, kTopic, 0ms), Requeued::live);
  EXPECT_THAT(list("dlq"), ElementsAre("m1"));
}

TEST_F(Scripts, RequeueingMayWait) {
  produced();
  ASSERT_TRUE(buried(claimed()));
  const std::string before = dead_letter(link, "m1");
  EXPECT_EQ(requeue(link, "m1", before, before, kTopic, 9s), Requeued::done);
  EXPECT_EQ(text({"ZSCORE", "shop:delays", "m1"}), std::to_string(clock.millis() + 9'000));
}

TEST_F(Scripts, CountsAreOfOneMoment) {
  produced("a");
  produced("b");
  claimed();
  ASSERT_TRUE(produce_delayed(link, a_message("c"), 5s));
  produced("d");
  python_takes();
  const Counts all = counts(link, kTopic);
  EXPECT_EQ(all.pending, 1);
  EXPECT_EQ(all.processing, 1);
  EXPECT_EQ(all.delayed, 1);
  EXPECT_EQ(all.leased, 1);
}

TEST_F(Scripts, NothingIsChangedWhereAKeyIsSomethingElse) {
  produced();
  LeasedMessage taken = claimed();
  taken.json = R"({"topic":"orders","payload":{},"new":1})";
  run({"SET", "shop:delays", "x"});
  EXPECT_THROW(retried(taken), ServerError);
  EXPECT_EQ(text({"HGET", "shop:payloads", "m1"}), to_json(a_message()));
  run({"DEL", "shop:delays"});
  EXPECT_TRUE(retried(taken));
}

TEST_F(Scripts, AreGivenAgainToAServerThatForgotThem) {
  produced();
  link.run(Command::of("SCRIPT", "FLUSH"));
  EXPECT_TRUE(completed(claimed().lease));
}

}  // namespace
}  // namespace easyretry::mxrmq
