// Tasks of a daemon, run by an engine in another process.

#include <latch>
#include <set>

#include "remote/daemon_api.h"
#include "unit/remote/support.h"

namespace easyretry::test {
namespace {

using namespace std::chrono_literals;

constexpr std::string_view kKey = "8f3c1d5be7a94206b1c0d2e3f4a5968778695a4b3c2d1e0ff1e2d3c4b5a69788";

struct RemoteTasks : RemoteTest {};

TEST_F(RemoteTasks, EachIsRunOnceByOneOfTheEngines) {
  constexpr int kTasks = 300;
  std::mutex mutex;
  std::multiset<int> ran;
  const auto count = [&](int number) {
    const std::lock_guard lock{mutex};
    ran.insert(number);
  };
  RemoteEngine one{url, options()};
  RemoteEngine two{url, options()};
  auto counting = one.retryable("count", count);
  two.retryable("count", count);
  std::vector<int> numbers;
  for (int i = 0; i < kTasks; ++i) numbers.push_back(i);
  EXPECT_EQ(counting.submit_many(numbers).size(), std::size_t{kTasks});
  one.start();
  two.start();
  EXPECT_TRUE(eventually([&] { return one.counts().at("count").total.ended[Outcome::succeeded] == kTasks; }));
  EXPECT_EQ(ran.size(), std::size_t{kTasks});
  EXPECT_EQ(std::set<int>(ran.begin(), ran.end()).size(), std::size_t{kTasks});
}

TEST_F(RemoteTasks, ATaskIsFoundWithItsLastAttempts) {
  RemoteEngine engine{url, options()};
  std::atomic<int> runs = 0;
  auto pay = engine.retryable(
      "pay", [&](int) { return ++runs < 2 ? retry_later("bank busy") : done(); }, quick());
  const TaskId id = pay.submit(1);
  engine.start();
  ASSERT_TRUE(eventually([&] { return ended(engine, id, Outcome::succeeded); }));
  const auto attempts = engine.find(id)->last_attempts;
  ASSERT_EQ(attempts.size(), 2U);
  EXPECT_EQ(attempts[0].number, 2);
  EXPECT_EQ(attempts[0].end, AttemptEnd::succeeded);
  EXPECT_EQ(attempts[1].number, 1);
  EXPECT_EQ(attempts[1].end, AttemptEnd::failed);
  EXPECT_EQ(attempts[1].error, "bank busy");
  EXPECT_NE(attempts[1].by, "");
  ASSERT_TRUE(attempts[1].began_at);
  EXPECT_LE(*attempts[1].began_at, attempts[1].ended_at);
}

// A page of the API has 1,000 tasks at most.
TEST_F(RemoteTasks, AreListedInBothOrdersOverSeveralPages) {
  RemoteEngine engine{url, options()};
  std::vector<int> numbers;
  for (int i = 0; i < 2'300; ++i) numbers.push_back(i);
  auto ids = engine.retryable("count", [](int) {}).submit_many(numbers);
  std::sort(ids.begin(), ids.end());
  const auto listed = [&](const TaskQuery& query) {
    std::vector<TaskId> found;
    for (const TaskInfo& task : engine.list(query)) found.push_back(task.id);
    return found;
  };
  EXPECT_EQ(listed({.limit = 5'000}), ids);
  EXPECT_EQ(listed({.after = ids[99], .limit = 5'000}), (std::vector<TaskId>{ids.begin() + 100, ids.end()}));
  EXPECT_EQ(listed({.order = ListOrder::newest_first, .limit = 5'000}),
            (std::vector<TaskId>{ids.rbegin(), ids.rend()}));
  EXPECT_EQ(listed({.order = ListOrder::newest_first, .after = ids[100], .limit = 60}),
            (std::vector<TaskId>{ids.rend() - 100, ids.rend() - 40}));
}

TEST_F(RemoteTasks, ACallbackThatThrowsIsCalledAgainAlone) {
  RemoteEngine engine{url, options()};
  std::atomic<int> runs{0};
  std::atomic<int> told{0};
  auto pay = engine.retryable(
      "pay",
      [&](const Order&) {
        ++runs;
        return Receipt{200};
      },
      quick());
  pay.on_success([&](const Receipt& receipt, const TaskInfo&) {
    if (++told == 1 || receipt.code != 200) throw std::runtime_error("the ledger is locked");
  });
  const TaskId id = pay.submit({"o1", 5});
  engine.start();
  EXPECT_TRUE(eventually([&] { return ended(engine, id, Outcome::succeeded); }));
  EXPECT_EQ(runs, 1);
  EXPECT_EQ(told, 2);
}

TEST_F(RemoteTasks, TheOwnerIsNotifiedOfAFinalFailure) {
  RemoteEngine engine{url, options()};
  std::atomic<bool> told{false};
  auto pay = engine.retryable(
      "pay", [](const Order&) { throw Busy("busy"); }, quick({.stop = {.max_attempts = 2}}));
  pay.on_final_failure([&](const Failure& failure, const TaskInfo& task) {
    told = failure.outcome == Outcome::exhausted && task.attempts == 2;
  });
  const TaskId id = pay.submit({"o1", 5});
  engine.start();
  EXPECT_TRUE(eventually([&] { return ended(engine, id, Outcome::exhausted); }));
  EXPECT_TRUE(told);
}

TEST_F(RemoteTasks, TheOwnerIsNotifiedOfACancellationByAnOperator) {
  RemoteEngine engine{url, options()};
  std::atomic<bool> told{false};
  std::atomic<bool> ran{false};
  auto pay = engine.retryable(
      "pay", [&](const Order&) { ran = true; }, quick());
  pay.on_final_failure([&](const Failure& failure, const TaskInfo&) { told = failure.outcome == Outcome::cancelled; });
  auto ready = engine.retryable("ready", [] {});
  engine.start();
  const TaskId first = ready.submit();
  ASSERT_TRUE(eventually([&] { return ended(engine, first, Outcome::succeeded); }));  // the daemon knows of the owner
  const TaskId id = pay.submit_after(1h, {"o1", 5});
  RemoteOptions as_operator = options();
  as_operator.token = token("operator");
  RemoteEngine other{url, as_operator};
  EXPECT_TRUE(other.cancel(id));
  EXPECT_TRUE(eventually([&] { return ended(engine, id, Outcome::cancelled); }));
  EXPECT_TRUE(told);
  EXPECT_FALSE(ran);
}

TEST_F(RemoteTasks, TheOwnerIsNotifiedOfAnEndByAnOperator) {
  RemoteEngine engine{url, options()};
  std::mutex mutex;
  std::vector<std::string> told;
  const auto tell = [&](const std::string& text) {
    const std::lock_guard lock{mutex};
    told.push_back(text);
  };
  auto pay = engine.retryable(
      "pay", [](const Order&) { return std::string{"by the handler"}; }, quick());
  pay.on_success([&](const std::string& result, const TaskInfo&) { tell(result); });
  pay.on_final_failure([&](const Failure& failure, const TaskInfo&) { tell(failure.message); });
  engine.start();
  const TaskId paid = pay.submit_after(1h, {"o1", 5});
  const TaskId lost = pay.submit_after(1h, {"o2", 5});
  RemoteOptions as_operator = options();
  as_operator.token = token("operator");
  RemoteEngine other{url, as_operator};
  EXPECT_TRUE(other.complete(paid, std::string{"in cash"}));
  EXPECT_TRUE(eventually([&] { return ended(engine, paid, Outcome::succeeded); }));
  EXPECT_TRUE(other.fail(lost, "refunded by hand"));
  EXPECT_TRUE(eventually([&] { return ended(engine, lost, Outcome::rejected); }));
  EXPECT_FALSE(other.fail(lost, "again"));
  const std::lock_guard lock{mutex};
  EXPECT_THAT(told, ::testing::ElementsAre("in cash", "refunded by hand"));
}

TEST_F(RemoteTasks, AnOperatorRetriesATaskAtOnceWithOtherLimits) {
  RemoteEngine engine{url, options()};
  std::atomic<int> runs{0};
  auto pay = engine.retryable(
      "payment.pay",
      [&](const Order&) {
        ++runs;
        throw Busy("the gateway is busy");
      },
      Policy{.backoff = Fixed{1h}});
  engine.start();
  const TaskId id = pay.submit({"o-1", 4200});
  ASSERT_TRUE(eventually([&] { return runs == 1 && engine.find(id)->state == TaskState::pending; }));

  RemoteOptions of_operator = options();
  of_operator.token = token("operator");
  RemoteEngine other{url, of_operator};
  EXPECT_TRUE(other.revise_policy(id, Policy{.backoff = Fixed{1h}, .stop = {.max_attempts = 2}}));
  EXPECT_TRUE(other.retry_now(id));
  EXPECT_TRUE(eventually([&] { return ended(engine, id, Outcome::exhausted); }));
  EXPECT_EQ(runs, 2);
  EXPECT_FALSE(other.retry_now(id)) << "it has ended";
}

TEST_F(RemoteTasks, APausedHandlerIsNotLeasedUntilItIsResumed) {
  const std::string name = "payment/pay \xc3\xa4";  // as it stands in a path
  RemoteEngine engine{url, options()};
  std::atomic<int> paid{0};
  auto pay = engine.retryable(
      name, [&](const Order&) { ++paid; }, quick());
  auto mail = engine.retryable("mail", [] {});
  EXPECT_THROW(engine.pause(name), StoreError) << "the role application may not";

  RemoteOptions of_operator = options();
  of_operator.token = token("operator");
  RemoteEngine other{url, of_operator};
  EXPECT_TRUE(other.pause(name, "gateway down"));
  EXPECT_FALSE(other.pause(name, "still"));
  ASSERT_EQ(engine.paused().size(), 1U);
  EXPECT_EQ(engine.paused()[0].handler, name);
  EXPECT_EQ(engine.paused()[0].why, "gateway down");

  const TaskId waits = pay.submit({"o1", 5});
  engine.start();
  const TaskId goes_on = mail.submit();
  EXPECT_TRUE(eventually([&] { return ended(engine, goes_on, Outcome::succeeded); }));
  EXPECT_EQ(paid, 0);
  EXPECT_TRUE(other.resume(name));
  EXPECT_TRUE(eventually([&] { return ended(engine, waits, Outcome::succeeded); }));
  EXPECT_EQ(paid, 1);
  EXPECT_TRUE(engine.paused().empty());
}

TEST_F(RemoteTasks, ArgumentsAreSealedBeforeTheyAreSent) {
  RemoteOptions sealing = options();
  sealing.engine.encryption = {.current = "k1", .keys = {EncryptionKey::from_hex("k1", kKey)}};
  RemoteEngine engine{url, sealing};
  std::atomic<bool> told{false};
  auto pay = engine.retryable(
      "pay", [](const Order& order) { return Receipt{order.cents}; }, quick());
  pay.on_success([&, tries = std::make_shared<int>(0)](const Receipt& receipt, const TaskInfo&) {
    if (++*tries == 1) throw std::runtime_error("once more");  // so that the result is kept
    told = receipt.code == 4711;
  });
  const TaskId id = pay.submit({"o-secret", 4711});
  remote::DaemonApi api{{url, token("viewer+payloads"), "default", ""}};
  const auto shown = api.ask("test", {.target = "/v1/tasks/" + to_string(id) + "?args"});
  const auto args = shown.value().json.root().find("args").value();
  ASSERT_EQ(args.size(), 1U);
  EXPECT_THAT(std::string{args.at(0).as_string()}, HasSubstr("\"$sealed\":1"));
  engine.start();
  EXPECT_TRUE(eventually([&] { return ended(engine, id, Outcome::succeeded); }));
  EXPECT_TRUE(told);
}

TEST_F(RemoteTasks, AStopHandsBackTasksThatHaveNotStarted) {
  RemoteOptions one_worker = options();
  one_worker.engine.workers = 1;
  one_worker.engine.drain = 0ms;
  RemoteEngine engine{url, one_worker};
  std::latch began{1};
  auto work = engine.retryable("work", [&](int) {
    if (began.try_wait()) return;
    began.count_down();
    wait_for_stop(current_task()->stop);
    throw std::runtime_error("asked to stop");
  });
  work.submit_many(std::vector<int>{1, 2, 3, 4});
  engine.start();
  began.wait();
  engine.stop();
  for (const TaskInfo& task : engine.list({})) {
    EXPECT_EQ(task.state, TaskState::pending);
    EXPECT_EQ(task.attempts, 0);
    EXPECT_EQ(task.crashes, 0);
  }
  EXPECT_EQ(engine.list({}).size(), 4U);
}

TEST_F(RemoteTasks, ALongRunKeepsItsLease) {
  RemoteOptions short_lease = options();
  short_lease.engine.lease = 400ms;
  RemoteEngine one{url, short_lease};
  RemoteEngine two{url, short_lease};
  std::atomic<int> runs{0};
  const auto slow = [&](int) {
    ++runs;
    std::this_thread::sleep_for(1500ms);
  };
  auto work = one.retryable("work", slow);
  two.retryable("work", slow);
  const TaskId id = work.submit(1);
  one.start();
  two.start();
  EXPECT_TRUE(eventually([&] { return ended(one, id, Outcome::succeeded); }));
  EXPECT_EQ(runs, 1);
}

TEST_F(RemoteTasks, ADaemonThatComesBackGetsTheOutcomesOfTheMeantime) {
  RemoteEngine engine{url, options()};
  std::latch began{1};
  std::latch may_end{1};
  auto work = engine.retryable("work", [&](int) {
    began.count_down();
    may_end.wait();
  });
  const TaskId id = work.submit(1);
  engine.start();
  began.wait();
  daemon.reset();
  may_end.count_down();
  ASSERT_TRUE(eventually([&] { return engine.stats().store_errors > 0; }));
  start_daemon();
  EXPECT_TRUE(eventually([&] { return ended(engine, id, Outcome::succeeded); }));
  EXPECT_EQ(engine.find(id)->attempts, 1);
}

}  // namespace
}  // namespace easyretry::test
