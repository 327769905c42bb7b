// RetryableTask: a class instead of a function.

#include <memory>

#include "unit/call/direct_call_fixture.h"

namespace easyretry::test {
namespace {

using namespace std::chrono_literals;

struct PayTask : RetryableTask<Receipt(const Order&, int)> {
  Receipt execute(const Order&, const int& amount) override {
    if (++calls < 3) throw Busy("busy");
    return {calls < 4 ? 500 : amount};
  }
  bool is_success(const Receipt& receipt) override { return receipt.code != 500; }
  void on_success(const Receipt& receipt, const TaskInfo&) override { told = "paid " + std::to_string(receipt.code); }
  void on_final_failure(const Failure& failure, const TaskInfo&) override { told = failure.message; }
  int calls = 0;
  std::string told;
};

TEST_F(DirectCall, TheClassFormIsCalledJudgedAndToldLikeAFunction) {
  auto task = std::make_shared<PayTask>();
  auto pay = engine.retryable("pay", task, {.backoff = Fixed{1s}});
  EXPECT_TRUE(pay(Order{"7"}, 200).stored());
  engine.drain();
  EXPECT_EQ(task->calls, 4);
  EXPECT_EQ(task->told, "paid 200");
}

struct Ask : RetryableTask<Answer(int)> {
  Answer execute(const int& n) override {
    return n < 0 ? give_up("negative") : ++calls < 2 ? retry_later("busy") : done();
  }
  void on_success(const Answer&, const TaskInfo&) override { told = "done"; }
  int calls = 0;
  std::string told;
};

TEST_F(DirectCall, TheClassFormMayKeepItsFunctionsToItself) {
  class Quiet : public RetryableTask<int(int)> {
    int execute(const int& n) override { return n + 1; }
  };
  EXPECT_EQ(*engine.retryable("quiet", std::make_shared<Quiet>())(41), 42);
}

TEST_F(DirectCall, TheClassFormMayAnswer) {
  auto task = std::make_shared<Ask>();
  RetryableFn<Answer(int)> ask = engine.retryable("ask", task, {.backoff = Fixed{1s}});
  EXPECT_TRUE(ask(1).stored());
  engine.drain();
  EXPECT_EQ(task->told, "done");
}

struct Notify : RetryableTask<void(std::string)> {
  void execute(const std::string&) override { throw Busy("nobody home"); }
  void on_final_failure(const Failure& failure, const TaskInfo&) override { told = failure.message; }
  std::string told;
};

TEST_F(DirectCall, TheClassFormWithoutAResultWorksToo) {
  auto task = std::make_shared<Notify>();
  auto notify = engine.retryable("notify", task, {.backoff = Fixed{1s}, .stop = {.max_attempts = 2}});
  EXPECT_TRUE(notify("alice").stored());
  engine.drain();
  EXPECT_THAT(task->told, HasSubstr("nobody home"));
}

}  // namespace
}  // namespace easyretry::test
