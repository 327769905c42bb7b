// What an engine refuses, and how it says so.

#include "unit/call/engine_fixture.h"

namespace easyretry::test {
namespace {

TEST_F(EngineTest, RefusesWhatCannotWorkWithAWordOnWhatToDo) {
  engine.retryable("pay", [](int) {});
  EXPECT_THAT(refusal([&] { engine.retryable("pay", [](int) {}); }), HasSubstr("registered twice"));
  EXPECT_THAT(refusal([&] { engine.retryable("", [](int) {}); }), HasSubstr("a name has 1 to 200 characters"));
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
}

TEST_F(EngineTest, AHandleThatOutlivesItsEngineSaysSo) {
  auto make = [] {
    ManualEngine short_lived{quiet()};
    return short_lived.retryable("pay", [](int) {});
  };
  EXPECT_THROW(make().submit(1), std::logic_error);
}

}  // namespace
}  // namespace easyretry::test
