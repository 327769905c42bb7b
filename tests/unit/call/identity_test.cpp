// Keys of tasks and duplicates of them, tags, trace context.

#include "unit/call/support.h"

namespace easyretry::test {
namespace {

using namespace std::chrono_literals;

struct Identity : ::testing::Test {
  ManualEngine engine{quiet()};
  std::vector<std::string> seen;

  static SubmitOptions key(OnDuplicate on_duplicate) {
    SubmitOptions options;
    options.key = "order-7";
    options.on_duplicate = on_duplicate;
    return options;
  }
};

TEST_F(Identity, ALiveKeyIsKeptOrRejected) {
  auto pay = engine.retryable("pay", [](int) {});
  const TaskId first = pay.with(key(OnDuplicate::keep)).submit_after(1h, 1);
  EXPECT_EQ(pay.with(key(OnDuplicate::keep)).submit(2), first);
  const std::string why = refusal<DuplicateTask>([&] { pay.with(key(OnDuplicate::reject)).submit(3); });
  EXPECT_THAT(why, HasSubstr("order-7"));
  EXPECT_THAT(why, HasSubstr(to_string(first)));
  engine.cancel(first);
  EXPECT_EQ(engine.stats().store_errors, 0U) << "a rejected duplicate is not a store error";
  EXPECT_NE(pay.with(key(OnDuplicate::reject)).submit(3), first) << "the first task has ended";
}

TEST_F(Identity, TheKeyOfACallIsKnownBeforeItIsStored) {
  std::string key_of_the_call;
  RetryableFn<void(int)> pay = engine.retryable("pay", [&](int order) {
    key_of_the_call = pay.key_of(order);
    throw Busy("slow");
  });
  const auto paid = pay(7);
  EXPECT_EQ(engine.find(paid.task())->key, key_of_the_call);
  EXPECT_EQ(pay.with(key(OnDuplicate::keep)).key_of(7), "order-7");
}

TEST_F(Identity, ALiveKeyMayGoOnByANewPolicy) {
  int calls = 0;
  auto pay = engine.retryable("pay",
                              [&](int) {
                                ++calls;
                                throw Busy("slow");
                              },
                              {.backoff = Fixed{1s}, .stop = {.max_attempts = 2}});
  const TaskId id = pay.with(key(OnDuplicate::keep)).submit(1);
  engine.run_due();
  SubmitOptions patient = key(OnDuplicate::update_policy);
  patient.deadline = engine.clock().now() + 500ms;
  EXPECT_EQ(pay.with(patient).submit(1), id);
  engine.drain();
  EXPECT_EQ(calls, 1) << "the next attempt would have come after the new deadline";
  EXPECT_EQ(engine.find(id)->outcome, Outcome::exhausted);
}

TEST_F(Identity, TagsAndTheTraceTravelWithTheTask) {
  const std::string trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
  SubmitOptions options;
  options.tags = {"vip", "eu"};
  options.traceparent = trace;
  auto pay = engine.retryable("pay", [&](int) {
    EXPECT_THAT(current_task()->info.tags, ElementsAre("vip", "eu"));
    EXPECT_EQ(current_task()->info.traceparent, trace);
    seen.emplace_back("ran");
  });
  pay.with(options).submit(1);
  engine.run_due();
  EXPECT_THAT(seen, ElementsAre("ran"));
}

TEST_F(Identity, AMalformedIdentityIsRefusedWithTheRightForm) {
  auto pay = engine.retryable("pay", [](int) {});
  const auto refusal_of = [&](const SubmitOptions& options) {
    return refusal<std::invalid_argument>([&] { pay.with(options).submit(1); });
  };
  SubmitOptions options;
  options.traceparent = "00-0AF7-1-01";
  EXPECT_THAT(refusal_of(options), HasSubstr("00-<32 hex digits>"));
  options = {};
  options.tags.assign(9, "x");
  EXPECT_THAT(refusal_of(options), HasSubstr("9 tags; at most 8"));
  options.tags = {""};
  EXPECT_THAT(refusal_of(options), HasSubstr("a tag is empty"));
  options.tags = {"\xff"};
  EXPECT_THAT(refusal_of(options), HasSubstr("a tag is not UTF-8, or has a NUL, at byte 0"));
  EXPECT_THAT(refusal_of({.key = "order-\xff"}), HasSubstr("the key is not UTF-8, or has a NUL, at byte 6"));
  EXPECT_THAT(refusal_of({.business_id = std::string("a\0b", 3)}), HasSubstr("the business id is not UTF-8"));
  EXPECT_EQ(engine.stats().stored, 0U);
}

}  // namespace
}  // namespace easyretry::test
