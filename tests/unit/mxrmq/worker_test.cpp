// Workers on threads, with the server's own clock.

#include <future>
#include <latch>
#include <map>
#include <mutex>

#include <easyretry/mxrmq.h>

#include "support/eventually.h"
#include "unit/mxrmq/support.h"

namespace easyretry::mxrmq {
namespace {

using test::eventually;

class AWorker : public QueueTest {
 protected:
  static WorkerOptions quick() {
    WorkerOptions options;
    options.lease = 60s;
    options.poll = 5ms;
    options.reap = 20ms;
    options.log = [](LogLevel, std::string_view) {};
    return options;
  }
  Message dead(const std::string& id) { return parse_message(dead_letter(link, id)); }
  Texts seen() {
    const std::lock_guard lock{mutex};
    return ran;
  }
  void saw(const std::string& what) {
    const std::lock_guard lock{mutex};
    ran.push_back(what);
  }

  Queue queue{url()};
  std::mutex mutex;
  Texts ran;  // guarded by mutex
};

TEST_F(AWorker, RunsMessagesAndLeavesNothing) {
  Worker worker{url(), quick()};
  worker.on("orders", [&](const Delivery& d) { saw(d.topic + d.payload); });
  worker.start();
  queue.produce("orders", R"({"n":1})");
  EXPECT_TRUE(eventually([&] { return worker.stats().completed == 1; }));
  EXPECT_THAT(seen(), ElementsAre(R"(orders{"n":1})"));
  expect_nothing_left();
}

TEST_F(AWorker, RetriesByTheMessagesOwnRulesAndKeepsTheLastError) {
  Worker worker{url(), quick()};
  worker.on("orders", [&](const Delivery& d) {
    saw(std::to_string(d.retry_count));
    throw std::runtime_error("card refused, attempt " + std::to_string(d.retry_count) + std::string(60, '!'));
  });
  worker.start();
  const std::string id = queue.produce("orders", "{}", {.max_retries = 3, .retry_delays = {0s}});
  EXPECT_TRUE(eventually([&] { return worker.stats().dead == 1; }));
  EXPECT_THAT(seen(), ElementsAre("0", "1", "2"));
  EXPECT_EQ(worker.stats().retried, 2);
  EXPECT_EQ(dead(id).meta.last_error, ("card refused, attempt 2" + std::string(60, '!')).substr(0, 50));
  EXPECT_EQ(dead(id).meta.retry_count, 3);
  EXPECT_THAT(list("dlq"), ElementsAre(id));
}

TEST_F(AWorker, AHandlerMayChooseItsDelay) {
  Worker worker{url(), quick()};
  worker.on("orders", [](const Delivery&) { return retry_after(1h, "the bank is closed"); });
  worker.start();
  const auto before = std::chrono::floor<Millis>(std::chrono::system_clock::now().time_since_epoch());
  const std::string id = queue.produce("orders", "{}");  // its own delay is a minute
  ASSERT_TRUE(eventually([&] { return worker.stats().retried == 1; }));
  const Millis due{std::atoll(text({"ZSCORE", "shop:delays", id}).c_str())};
  EXPECT_GE(due - before, 1h);
  EXPECT_LT(due - before, 1h + 1min);
  const Meta meta = parse_message(text({"HGET", "shop:payloads", id})).meta;
  EXPECT_EQ(meta.last_error, "the bank is closed");
  EXPECT_EQ(meta.retry_count, 1);
  EXPECT_GT(meta.expire_at, due.count()) << "Python would take a message past its expireAt for an expired one";
}

TEST_F(AWorker, AHandlerAnswersWithTheTypeOfThePayloadToo) {
  Worker worker{url(), quick()};
  worker.on<std::map<std::string, int>>("orders", [&](const std::map<std::string, int>& payload) -> Answer {
    saw(std::to_string(payload.at("n")));
    if (payload.at("n") == 1) return give_up("no such customer");
    return seen().size() < 3 ? retry_after(1ms) : done();
  });
  worker.start();
  const std::string id = queue.produce("orders", R"({"n":1})");
  ASSERT_TRUE(eventually([&] { return worker.stats().dead == 1; }));
  queue.produce("orders", R"({"n":2})");
  EXPECT_TRUE(eventually([&] { return worker.stats().completed == 1; }));
  EXPECT_THAT(seen(), ElementsAre("1", "2", "2"));
  EXPECT_EQ(dead(id).meta.last_error, "no such customer");
  EXPECT_THAT(list("dlq"), ElementsAre(id));
}

TEST_F(AWorker, AnythingMayBeThrown) {
  Worker worker{url(), quick()};
  worker.on("orders", [](const Delivery&) { throw 7; });
  worker.start();
  const std::string id = queue.produce("orders", "{}", {.max_retries = 1});
  EXPECT_TRUE(eventually([&] { return worker.stats().dead == 1; }));
  EXPECT_THAT(*dead(id).meta.last_error, HasSubstr("not a std::exception"));
}

TEST_F(AWorker, DelayedMessagesRunWhenTheyAreDue) {
  Worker worker{url(), quick()};
  worker.on("orders", [&](const Delivery& d) { saw(d.payload); });
  worker.start();
  queue.produce_after(50ms, "orders", R"({"n":2})");
  EXPECT_TRUE(eventually([&] { return worker.stats().completed == 1; }));
}

TEST_F(AWorker, ASlowTopicDoesNotHoldUpAnother) {
  std::latch release{1};
  Worker worker{url(), quick()};
  worker.on(
      "slow", [&](const Delivery&) { release.wait(); }, 1);
  worker.on(
      "quick", [](const Delivery&) {}, 1);
  worker.start();
  for (int i = 0; i < 3; ++i) queue.produce("slow", "{}");
  queue.produce("quick", "{}");
  EXPECT_TRUE(eventually([&] { return worker.stats().completed == 1; }));
  EXPECT_EQ(queue.counts("slow").pending, 2) << "no more are taken than are run";
  release.count_down();
  EXPECT_TRUE(eventually([&] { return worker.stats().completed == 4; }));
}

TEST_F(AWorker, UnreadableMessagesAreSetAside) {
  Worker worker{url(), quick()};
  worker.on("orders", [](const Delivery&) {});
  worker.start();
  run({"HSET", "shop:payloads", "bad", R"({"topic":"orders"})", "bad:queue", "shop:orders"});
  run({"LPUSH", "shop:orders:pending", "bad"});
  EXPECT_TRUE(eventually([&] { return worker.stats().unreadable == 1; }));
  EXPECT_THAT(text({"HGET", "shop:errors:data", "bad"}), HasSubstr("payload is missing"));
}

TEST_F(AWorker, LeasesOfLongRunsAreRenewed) {
  WorkerOptions options = quick();
  options.lease = 300ms;
  std::atomic<bool> released = false;
  std::atomic<int> runs = 0;
  Worker worker{url(), options};
  worker.on("orders", [&](const Delivery&) {
    ++runs;
    EXPECT_TRUE(eventually([&] { return released.load(); }));
  });
  worker.start();
  const std::string id = queue.produce("orders", "{}");
  ASSERT_TRUE(eventually([&] { return runs == 1; }));
  const auto deadline = [&] { return std::atoll(text({"ZSCORE", "shop:expires", id}).c_str()); };
  const auto first = deadline();
  EXPECT_TRUE(eventually([&] { return deadline() > first + 900; }, 10s)) << "three leases later it is still held";
  released = true;
  EXPECT_TRUE(eventually([&] { return worker.stats().completed == 1; }));
  EXPECT_EQ(runs, 1);
}

TEST_F(AWorker, ALostMessageStopsItsHandlerAndItsOutcomeDoesNotCount) {
  WorkerOptions options = quick();
  options.lease = 300ms;
  std::latch running{1};
  Worker worker{url(), options};
  worker.on("orders", [&](const Delivery& d) {
    running.count_down();
    EXPECT_TRUE(eventually([&] { return d.stop.stop_requested(); }));
  });
  worker.start();
  const std::string id = queue.produce("orders", "{}");
  running.wait();
  python_completes(id);
  EXPECT_TRUE(eventually([&] { return worker.stats().fenced == 1; }));
  EXPECT_EQ(worker.stats().completed, 0);
}

TEST_F(AWorker, StoppingLetsHandlersFinish) {
  std::latch running{1};
  std::latch finish{1};
  Worker worker{url(), quick()};
  worker.on("orders", [&](const Delivery&) {
    running.count_down();
    finish.wait();
  });
  worker.start();
  queue.produce("orders", "{}");
  running.wait();
  auto stopped = std::async(std::launch::async, [&] { worker.stop(); });
  EXPECT_EQ(stopped.wait_for(30ms), std::future_status::timeout);
  finish.count_down();
  stopped.get();
  EXPECT_EQ(worker.stats().completed, 1);
  expect_nothing_left();
}

TEST_F(AWorker, UnfinishedMessagesAreReturned) {
  std::latch running{1};
  Worker worker{url(), quick()};
  worker.on("orders", [&](const Delivery& d) {
    running.count_down();
    EXPECT_TRUE(eventually([&] { return d.stop.stop_requested() && queue.counts("orders").pending == 1; }));
  });
  worker.start();
  const std::string id = queue.produce("orders", "{}");
  running.wait();
  worker.stop(0ms);
  EXPECT_EQ(worker.stats().fenced, 1);
  EXPECT_EQ(parse_message(text({"HGET", "shop:payloads", id})).meta.retry_count, 0) << "no attempt was counted";
  EXPECT_THAT(list("orders:pending"), ElementsAre(id));
}

TEST_F(AWorker, TakesOverTheMessagesOfADeadWorker) {
  queue.produce("orders", "{}", {.retry_delays = {0s}});
  QueueConnection real{parse_queue_url(url())};
  ASSERT_THAT(claim(real, kTopic, "dead", 1ms, 1).messages, SizeIs(1));
  Worker worker{url(), quick()};
  worker.on("orders", [](const Delivery&) {});
  worker.start();
  EXPECT_TRUE(eventually([&] { return worker.stats().completed == 1; }));
  EXPECT_EQ(worker.stats().rescued, 1);
}

TEST_F(AWorker, LogsAProblemOnceAndItsEndOnce) {
  Texts said;
  WorkerOptions options = quick();
  options.log = [&](LogLevel, std::string_view line) {
    const std::lock_guard lock{mutex};
    said.emplace_back(line);
  };
  const auto lines_with = [&](const std::string& part) {
    const std::lock_guard lock{mutex};
    return std::ranges::count_if(said, [&](const std::string& line) { return line.find(part) != line.npos; });
  };
  run({"SET", "shop:orders:pending", "something else"});
  Worker worker{url(), options};
  worker.on("orders", [](const Delivery&) {});
  worker.start();
  ASSERT_TRUE(eventually([&] { return lines_with("cannot be taken; retrying") == 1; }));
  run({"DEL", "shop:orders:pending"});
  EXPECT_TRUE(eventually([&] { return lines_with("resolved: messages of orders cannot be taken") == 1; }));
  EXPECT_EQ(lines_with("cannot be taken; retrying"), 1);
}

TEST_F(AWorker, RefusesInvalidArguments) {
  Worker worker{url(), quick()};
  EXPECT_THROW(worker.start(), std::invalid_argument) << "without a handler";
  worker.on("orders", [](const Delivery&) {});
  EXPECT_THROW(worker.on("orders", [](const Delivery&) {}), std::invalid_argument);
  EXPECT_THROW(worker.on("refunds", std::function<void(const Delivery&)>{}), std::invalid_argument);
  EXPECT_THROW(worker.on("", [](const Delivery&) {}), std::invalid_argument);
  EXPECT_THROW(worker.on(
                   "other", [](const Delivery&) {}, 0),
               std::invalid_argument);
  WorkerOptions short_lease = quick();
  short_lease.lease = 1ms;
  EXPECT_THROW(Worker(url(), short_lease), std::invalid_argument);
}

TEST_F(AWorker, ManyMessagesAreEachRun) {
  constexpr int kMany = 500;
  Worker worker{url(), quick()};
  worker.on(
      "orders", [&](const Delivery& d) { saw(d.payload); }, 8);
  for (int i = 0; i < kMany; ++i) queue.produce("orders", R"({"n":)" + std::to_string(i) + "}");
  worker.start();
  EXPECT_TRUE(eventually([&] { return worker.stats().completed == kMany; }));
  EXPECT_THAT(seen(), SizeIs(kMany));
  expect_nothing_left();
}

}  // namespace
}  // namespace easyretry::mxrmq
