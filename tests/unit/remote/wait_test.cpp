// Waiting in one process for a task that a daemon has.

#include <future>

#include "unit/remote/support.h"

namespace easyretry::test {
namespace {

using namespace std::chrono_literals;

struct RemoteWait : RemoteTest {
  const HandlerOptions kept{.keep_results = 1h};
};

TEST_F(RemoteWait, ReturnsTheResultOfATaskThatAnotherProcessRuns) {
  RemoteEngine worker{url, options()};
  worker.retryable(
      "pay", [](const Order& order) { return Receipt{order.cents}; }, quick(), kept);
  RemoteEngine caller{url, options()};
  auto pay = caller.retryable(
      "pay", [](const Order&) { return Receipt{}; }, quick());
  const TaskId id = pay.submit({"o-1", 42});
  auto waited = std::async(std::launch::async, [&] { return caller.wait(id, 1min); });
  EXPECT_EQ(waited.wait_for(100ms), std::future_status::timeout);
  worker.start();
  const Waited end = waited.get();
  EXPECT_TRUE(end.succeeded());
  EXPECT_EQ(end.result_as<Receipt>().code, 42);
}

TEST_F(RemoteWait, ReturnsAResultThatTheDaemonCannotRead) {
  RemoteOptions own = options();
  own.engine.encryption.current = "2026";
  own.engine.encryption.keys = {EncryptionKey::from_hex("2026", std::string(62, 'a') + "01")};
  RemoteEngine engine{url, own};
  auto pay = engine.retryable(
      "pay", [](const Order& order) { return order.id; }, quick(), kept);
  engine.start();
  EXPECT_EQ(engine.wait(pay.submit({"o-1", 42}), 1min).result_as<std::string>(), "o-1");
}

TEST_F(RemoteWait, SaysThatAResultWasTooLong) {
  RemoteOptions own = options();
  own.engine.max_payload = 100;
  RemoteEngine engine{url, own};
  auto print = engine.retryable(
      "print", [](int length) { return std::string(static_cast<std::size_t>(length), 'x'); }, quick(), kept);
  engine.start();
  EXPECT_EQ(engine.wait(print.submit(99), 1min).left_out, 101U);
}

TEST_F(RemoteWait, DistinguishesTasksThatHaveNotEndedFromUnknownOnes) {
  RemoteEngine engine{url, options()};
  auto pay = engine.retryable(
      "pay", [](const Order&) {}, quick());
  engine.start();
  const TaskId id = pay.submit_after(1h, {"o-1", 42});
  EXPECT_EQ(engine.wait(id, 300ms).end, WaitEnd::timeout);
  EXPECT_EQ(engine.wait(TaskId{4711}, 1min).end, WaitEnd::unknown);
  RemoteOptions as_operator = options();
  as_operator.token = token("operator");
  EXPECT_TRUE(RemoteEngine(url, as_operator).cancel("pay", engine.find(id)->key));
  const Waited waited = engine.wait(id, 1min);
  EXPECT_EQ(waited.end, WaitEnd::ended);
  EXPECT_EQ(waited.task->outcome, Outcome::cancelled);
}

TEST_F(RemoteWait, EndsWhenTheEngineStops) {
  RemoteEngine engine{url, options()};
  auto pay = engine.retryable(
      "pay", [](const Order&) {}, quick());
  const TaskId id = pay.submit({"o-1", 42});
  auto waited = std::async(std::launch::async, [&] { return engine.wait(id, 10min); });
  EXPECT_EQ(waited.wait_for(300ms), std::future_status::timeout);
  engine.stop();
  EXPECT_EQ(waited.get().end, WaitEnd::stopped);
}

}  // namespace
}  // namespace easyretry::test
