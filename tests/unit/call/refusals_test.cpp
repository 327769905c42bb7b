// Invalid uses of an engine, and their error messages.

#include "unit/call/engine_fixture.h"

namespace easyretry::test {
namespace {

using namespace std::chrono_literals;

TEST_F(EngineTest, RefusesInvalidUsesWithAdvice) {
  engine.retryable("pay", [](int) {});
  EXPECT_THAT(refusal([&] { engine.retryable("pay", [](int) {}); }), HasSubstr("registered twice"));
  EXPECT_THAT(refusal([&] { engine.retryable("", [](int) {}); }), HasSubstr("a name has 1 to 200 characters"));
  EXPECT_THAT(refusal([&] { engine.retryable("\xff", [](int) {}); }), HasSubstr("a name is UTF-8 text"));
  EXPECT_THAT(refusal([&] {
                engine.retryable(
                    "a", [](int) {}, Policy{.backoff = Fixed{-1s}});
              }),
              HasSubstr("handler \"a\""));
  EXPECT_THAT(refusal([&] { engine.retryable("a", [](int) {}, {}, {.concurrency = -1}); }),
              HasSubstr("concurrency is -1"));
  EXPECT_THAT(refusal([&] {
                engine.retryable(
                    "a", [](int) { return 1; }, Policy{.success_when = "result =="});
              }),
              HasSubstr("success_when"));
  EXPECT_THAT(refusal([&] { engine.retryable("b", [](const std::string&) {}).submit(std::string(2 << 20, 'x')); }),
              HasSubstr("at most 1048576"));
  EXPECT_THAT(refusal([] { Engine bad{"sqlit:x.db"}; }), HasSubstr("sqlite"));
  EXPECT_THAT(refusal([] { Engine bad{"memory:", {.workers = 0}}; }), HasSubstr("workers is 0"));
  EXPECT_THAT(refusal([] { Engine bad{"memory:", {.lease = -1ms}}; }), HasSubstr("lease is -1 ms"));
  EXPECT_THAT(refusal([] { Engine bad{"memory:", {.name_space = ""}}; }), HasSubstr("use 1 to 64 bytes"));
  EXPECT_THAT(refusal([] { Engine bad{"memory:", {.name_space = "shop\xff"}}; }), HasSubstr("use UTF-8 without NUL"));
}

TEST_F(EngineTest, RefusesEmptyFunctions) {
  struct Gateway {
    void pay(int) {}
  };
  struct Pay : RetryableTask<void(int)> {
    void execute(const int&) override {}
  };
  const auto empty = HasSubstr("must be callable, but it is empty");
  EXPECT_THAT(refusal([&] { engine.retryable("a", static_cast<void (*)(int)>(nullptr)); }), empty);
  EXPECT_THAT(refusal([&] { engine.retryable("a", std::function<void(int)>{}); }), empty);
  EXPECT_THAT(refusal([&] { engine.retryable("a", &Gateway::pay, static_cast<Gateway*>(nullptr)); }), empty);
  EXPECT_THAT(refusal([&] { engine.retryable("a", std::shared_ptr<Pay>{}); }), empty);
  auto pay = engine.retryable("a", [](int) {});
  EXPECT_THAT(refusal([&] { pay.on_success(std::function<void(const TaskInfo&)>{}); }), empty);
  EXPECT_THAT(refusal([&] { pay.on_final_failure(std::function<void(const Failure&, const TaskInfo&)>{}); }), empty);
  EXPECT_THAT(refusal([&] { pay.on_retry_scheduled(std::function<void(const std::string&, const TaskInfo&)>{}); }),
              empty);
}

TEST_F(EngineTest, AHandleThatOutlivesItsEngineSaysSo) {
  auto make = [] {
    ManualEngine short_lived{quiet()};
    return short_lived.retryable("pay", [](int) {});
  };
  EXPECT_THROW(make().submit(1), std::logic_error);
}

TEST_F(EngineTest, AHandleThatOutlivesItsEngineStillShowsWhatItsFunctionThrew) {
  auto make = [] {
    ManualEngine short_lived{quiet()};
    return short_lived.retryable("pay", [](int) { throw Busy("the gateway is busy"); });
  };
  try {
    static_cast<void>(make()(1));
    FAIL() << "it returned";
  } catch (const std::logic_error& e) {
    EXPECT_THAT(e.what(), HasSubstr("no longer exists"));
    EXPECT_THROW(std::rethrow_if_nested(e), Busy);
  }
}

}  // namespace
}  // namespace easyretry::test
