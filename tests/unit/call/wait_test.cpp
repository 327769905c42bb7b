// Waiting for tasks and their results, and finding them by key.

#include <future>

#include <easyretry/config.h>

#include "support/eventually.h"
#include "support/temp_folder.h"
#include "unit/call/engine_fixture.h"

namespace easyretry::test {
namespace {

using namespace std::chrono_literals;

const HandlerOptions kKept{.keep_results = 24h};

TEST_F(EngineTest, WaitRunsATaskOfAManualEngineToItsEnd) {
  auto pay = engine.retryable(
      "pay",
      [&](int order) {
        if (++calls < 3) throw Busy("busy");
        return Receipt{order};
      },
      Policy{.backoff = Fixed{10s}}, kKept);
  const TaskId id = pay.submit(42);
  const TimePoint began = engine.clock().now();
  EXPECT_EQ(engine.wait(id, 5s).end, WaitEnd::timeout);
  EXPECT_EQ(engine.clock().now() - began, 5s);
  const Waited waited = engine.wait(id, 1min);
  EXPECT_EQ(waited.end, WaitEnd::ended);
  EXPECT_TRUE(waited.succeeded());
  EXPECT_EQ(waited.task->attempts, 3);
  EXPECT_EQ(waited.result, R"({"code":42})");
  EXPECT_EQ(waited.result_as<Receipt>().code, 42);
  EXPECT_EQ(engine.clock().now() - began, 20s) << "no longer than needed";
}

TEST_F(EngineTest, WaitSaysHowATaskFailed) {
  auto pay = engine.retryable(
      "pay", [](int) -> Receipt { throw Closed("closed"); }, Policy{.stop = {.max_attempts = 1}}, kKept);
  const Waited waited = engine.wait(pay.submit(42), 1min);
  EXPECT_FALSE(waited.succeeded());
  EXPECT_EQ(waited.task->outcome, Outcome::exhausted);
  EXPECT_THAT(waited.task->last_error, HasSubstr("closed"));
  EXPECT_EQ(waited.result, std::nullopt);
  EXPECT_THAT(refusal([&] { waited.result_as<Receipt>(); }), HasSubstr("ended as exhausted"));
}

TEST_F(EngineTest, NoResultIsKeptByDefault) {
  auto pay = engine.retryable("pay", [](int order) { return Receipt{order}; });
  const Waited waited = engine.wait(pay.submit(42), 1min);
  EXPECT_TRUE(waited.succeeded());
  EXPECT_EQ(waited.result, std::nullopt);
  EXPECT_THAT(refusal([&] { waited.result_as<Receipt>(); }), HasSubstr("keep_results"));
}

TEST_F(EngineTest, WaitKnowsNoTaskThatWasNeverStored) {
  const Waited waited = engine.wait(TaskId{4711}, 1min);
  EXPECT_EQ(waited.end, WaitEnd::unknown);
  EXPECT_EQ(waited.task, std::nullopt);
  EXPECT_THAT(refusal([&] { waited.result_as<int>(); }), HasSubstr("unknown"));
  EXPECT_THAT(refusal<std::invalid_argument>([&] { engine.wait(TaskId{1}, -1ms); }), HasSubstr("negative"));
}

TEST_F(EngineTest, AHandlerCannotWait) {
  std::string said;
  auto pay =
      engine.retryable("pay", [&](int) { said = refusal<std::logic_error>([&] { engine.wait(TaskId{1}, 0ms); }); });
  pay.submit(42);
  engine.drain();
  EXPECT_THAT(said, HasSubstr("holds up its worker"));
}

TEST_F(EngineTest, AResultIsKeptThatACallbackHasSeenAtLast) {
  auto pay = engine.retryable(
      "pay", [](int order) { return Receipt{order}; }, kKept);
  pay.on_success([&](const Receipt&, const TaskInfo&) {
    if (++calls < 3) throw Busy("busy");
  });
  const TaskId id = pay.submit(42);
  engine.run_due();
  EXPECT_EQ(engine.wait(id, 0ms).end, WaitEnd::timeout) << "its callback has not run";
  const Waited waited = engine.wait(id, 1h);
  EXPECT_EQ(calls, 3);
  EXPECT_EQ(waited.result_as<Receipt>().code, 42);
}

TEST_F(EngineTest, ATaskThatAUserCompletesKeepsItsResult) {
  auto late = engine.retryable(
      "late", [](int order) { return Receipt{order}; }, kKept);
  const TaskId id = late.submit_after(1h, 42);
  EXPECT_TRUE(engine.complete(id, Receipt{7}));
  EXPECT_EQ(engine.wait(id, 1min).result_as<Receipt>().code, 7);
}

TEST(KeptResults, ALongOneIsLeftOutWithAMarkAndTheTaskSucceeds) {
  std::vector<std::string> log;
  EngineOptions options = quiet();
  options.max_payload = 100;
  options.log = [&](LogLevel, std::string_view line) { log.emplace_back(line); };
  ManualEngine engine{options};
  auto print = engine.retryable(
      "print", [](int length) { return std::string(static_cast<std::size_t>(length), 'x'); }, kKept);
  EXPECT_EQ(engine.wait(print.submit(98), 1min).result_as<std::string>().size(), 98U);
  const Waited waited = engine.wait(print.submit(99), 1min);
  EXPECT_TRUE(waited.succeeded());
  EXPECT_EQ(waited.result, std::nullopt);
  EXPECT_EQ(waited.left_out, 101U);
  EXPECT_THAT(refusal([&] { waited.result_as<std::string>(); }), HasSubstr("101 bytes"));
  EXPECT_THAT(log, ::testing::Contains(HasSubstr("its result of 101 bytes is not kept; max_payload is 100")));
}

TEST(KeptResults, AreEncryptedWithTheArguments) {
  const TempFolder folder;
  EngineOptions options = quiet();
  options.encryption.current = "2026";
  options.encryption.keys = {EncryptionKey::from_hex("2026", std::string(62, 'a') + "01")};
  const std::string url = folder.sqlite_url();
  TaskId id{};
  {
    ManualEngine engine{options, url};
    auto pay = engine.retryable(
        "pay", [](int) { return std::string{"secret receipt"}; }, kKept);
    id = pay.submit(42);
    EXPECT_EQ(engine.wait(id, 1min).result_as<std::string>(), "secret receipt");
  }
  ManualEngine without_keys{quiet(), url};
  EXPECT_THAT(without_keys.wait(id, 0ms).result.value_or(""), ::testing::Not(HasSubstr("secret")));
}

TEST(KeptResults, TheConfigurationSaysForHowLong) {
  Config config = parse_config("store: 'memory:'\ndefaults: {keep_results: 7d}\nhandlers: {mail: {keep_results: 0s}}");
  config.engine.log = nullptr;
  ManualEngine engine{config};
  auto pay = engine.retryable("pay", [](int order) { return order; });
  auto mail = engine.retryable(
      "mail", [](int order) { return order; }, kKept);
  EXPECT_EQ(engine.wait(pay.submit(42), 1min).result, "42");
  EXPECT_EQ(engine.wait(mail.submit(42), 1min).result, std::nullopt) << "the handler's own entry wins";
  EXPECT_THAT(refusal([&] {
                engine.retryable(
                    "x", [](int) { return 1; }, HandlerOptions{.keep_results = -1s});
              }),
              HasSubstr("keep_results"));
}

TEST(WaitOnThreads, ReturnsWhenTheTaskEnds) {
  Engine engine{"memory:", quiet()};
  auto pay = engine.retryable(
      "pay", [](int order) { return order; }, kKept);
  engine.start();
  for (int order = 0; order < 100; ++order) {
    EXPECT_EQ(engine.wait(pay.submit(order), 1min).result_as<int>(), order);
  }
}

TEST(WaitOnThreads, ManyCallersWaitForManyTasks) {
  Engine engine{"memory:", quiet()};
  std::promise<void> open;
  auto gate = engine.retryable(
      "gate",
      [opened = open.get_future().share()](int order) {
        opened.wait();
        return order;
      },
      kKept);
  engine.start();
  std::vector<std::future<int>> callers;
  for (int order = 0; order < 50; ++order) {
    const TaskId id = gate.submit(order / 2);
    callers.push_back(std::async(std::launch::async, [&engine, id] { return engine.wait(id, 1min).result_as<int>(); }));
  }
  open.set_value();
  for (int order = 0; order < 50; ++order) EXPECT_EQ(callers[static_cast<std::size_t>(order)].get(), order / 2);
}

TEST(WaitOnThreads, SeesAnEndThatHistoryDoesNotKeep) {
  Engine engine{"memory:?history=none", quiet()};
  std::promise<void> open;
  auto gate = engine.retryable("gate", [opened = open.get_future().share()](int) { opened.wait(); });
  engine.start();
  const TaskId id = gate.submit(42);
  auto caller = std::async(std::launch::async, [&] { return engine.wait(id, 1min); });
  eventually([&] { return engine.find(id)->state == TaskState::running; });
  EXPECT_EQ(caller.wait_for(100ms), std::future_status::timeout);
  open.set_value();
  const Waited waited = caller.get();
  EXPECT_TRUE(waited.succeeded());
  EXPECT_EQ(engine.wait(id, 0ms).end, WaitEnd::unknown);
}

TEST(WaitOnThreads, EndsWhenTheEngineStops) {
  Engine engine{"memory:", quiet()};
  auto pay = engine.retryable("pay", [](int order) { return order; });
  const TaskId id = pay.submit(42);  // never started
  auto caller = std::async(std::launch::async, [&] { return engine.wait(id, 10min); });
  EXPECT_EQ(caller.wait_for(100ms), std::future_status::timeout);
  engine.stop();
  EXPECT_EQ(caller.get().end, WaitEnd::stopped);
  EXPECT_EQ(engine.wait(id, 10min).end, WaitEnd::stopped);
}

TEST_F(EngineTest, ATaskIsFoundByItsHandlerAndKey) {
  auto pay = engine.retryable("pay", [&](int) { ++calls; });
  engine.retryable("mail", [](int) {});
  const TaskId first = pay.with({.key = "order 42"}).submit(42);
  EXPECT_EQ(engine.find("pay", "order 42")->id, first);
  EXPECT_EQ(engine.find("mail", "order 42"), std::nullopt);
  engine.drain();
  EXPECT_EQ(engine.find("pay", "order 42")->id, first) << "in history";
  const TaskId second = pay.with({.key = "order 42"}).submit_after(1h, 42);
  EXPECT_EQ(engine.find("pay", "order 42")->id, second) << "the live one";
  engine.drain();
  EXPECT_EQ(engine.find("pay", "order 42")->id, second) << "the last one";
  EXPECT_THAT(refusal<std::invalid_argument>([&] { engine.find("pay", ""); }), HasSubstr("key"));
  EXPECT_THAT(refusal<std::invalid_argument>([&] { engine.cancel("", "order 42"); }), HasSubstr("handler"));
}

TEST_F(EngineTest, ATaskIsRetriedCancelledAndRequeuedByItsKey) {
  auto pay = engine.retryable("pay", [&](int) { ++calls; });
  pay.with({.key = "order 42"}).submit_after(1h, 42);
  EXPECT_FALSE(engine.requeue("pay", "order 42")) << "it has not ended";
  EXPECT_TRUE(engine.retry_now("pay", "order 42"));
  engine.run_due();
  EXPECT_EQ(calls, 1);
  EXPECT_FALSE(engine.retry_now("pay", "order 42"));
  EXPECT_FALSE(engine.cancel("pay", "order 42"));
  const auto again = engine.requeue("pay", "order 42");
  ASSERT_TRUE(again);
  EXPECT_TRUE(engine.cancel("pay", "order 42"));
  EXPECT_EQ(engine.find("pay", "order 42")->outcome, Outcome::cancelled);
  EXPECT_FALSE(engine.cancel("pay", "unknown"));
  engine.drain();
  EXPECT_EQ(calls, 1);
}

TEST_F(EngineTest, TheLastOfManyTasksWithOneKeyIsFound) {
  auto pay = engine.retryable("pay", [&](int) { ++calls; });
  TaskId last{};
  for (int i = 0; i < 250; ++i) {
    last = pay.with({.key = "nightly"}).submit(42);
    engine.run_due();
  }
  EXPECT_EQ(engine.find("pay", "nightly")->id, last);
}

}  // namespace
}  // namespace easyretry::test
