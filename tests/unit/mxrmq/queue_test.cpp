// The queue as an application sees it.

#include <easyretry/json.h>
#include <easyretry/mxrmq.h>

#include "support/refusal.h"
#include "unit/mxrmq/support.h"

struct Order {
  std::string id;
  std::int64_t amount = 0;
};
EASYRETRY_JSON(Order, id, amount)

namespace easyretry::mxrmq {
namespace {

class AQueue : public QueueTest {
 protected:
  std::string refusal(const std::function<void()>& call) { return test::refusal<std::invalid_argument>(call); }
  Message stored(const std::string& id) { return parse_message(text({"HGET", "shop:payloads", id})); }

  Queue queue{url()};
};

TEST_F(AQueue, ProducesValuesAndTexts) {
  const std::string one = queue.produce("orders", Order{"a", 9007199254740993});
  EXPECT_EQ(stored(one).payload, R"({"amount":9007199254740993,"id":"a"})");
  const std::string two = queue.produce("orders", R"({"e": [], "f": 1.10})");
  EXPECT_EQ(stored(two).payload, R"({"e": [], "f": 1.10})");
  EXPECT_THAT(list("orders:pending"), ElementsAre(two, one));
  EXPECT_EQ(one.size(), 36);
  EXPECT_EQ(one[14], '4') << "a UUID, version 4";
}

TEST_F(AQueue, AMessageCarriesItsOptions) {
  queue.produce("orders", "{}",
                {.id = "mine", .priority = Priority::high, .ttl = 1h, .max_retries = 7, .retry_delays = {1s, 2s}});
  const Message message = stored("mine");
  EXPECT_EQ(message.priority, Priority::high);
  EXPECT_EQ(message.meta.max_retries, 7);
  EXPECT_THAT(message.meta.retry_delays, ElementsAre(1, 2));
  EXPECT_EQ(message.meta.expire_at - message.created_at, 3'600'000);
}

TEST_F(AQueue, ADelayIsKeptInSecondsAndMeantInMilliseconds) {
  const std::string id = queue.produce_after(1500ms, "orders", "{}");
  EXPECT_EQ(stored(id).meta.delay, 2);
  EXPECT_EQ(number({"ZCARD", "shop:delays"}), 1);
  EXPECT_THAT(list("orders:pending"), IsEmpty());
}

TEST_F(AQueue, RefusesMessagesThatPythonCouldNotRead) {
  EXPECT_THAT(refusal([&] { queue.produce("orders", "[1]"); }), HasSubstr("JSON objects only"));
  EXPECT_THAT(refusal([&] { queue.produce("orders", "{"); }), HasSubstr("not JSON"));
  EXPECT_THAT(refusal([&] { queue.produce(" orders", "{}"); }), HasSubstr("not begin or end with a space"));
  EXPECT_THAT(refusal([&] { queue.produce("", "{}"); }), HasSubstr("not empty"));
  EXPECT_THAT(refusal([&] { queue.produce("orders", "{}", {.id = "a:queue"}); }), HasSubstr(":queue"));
  EXPECT_THAT(refusal([&] { queue.produce_after(-1s, "orders", "{}"); }), HasSubstr("-1000 ms"));
}

TEST_F(AQueue, RequeuesADeadLetterWithFreshAttempts) {
  const std::string id = queue.produce("orders", "{}");
  LeasedMessage taken = claimed();
  Meta meta = parse_message(taken.json).meta;
  meta.retry_count = 3;
  meta.status = Status::dead_letter;
  taken.json = rewritten(taken.json, meta);
  ASSERT_TRUE(buried(taken));
  EXPECT_TRUE(queue.requeue(id));
  EXPECT_EQ(stored(id).meta.retry_count, 0);
  EXPECT_TRUE(stored(id).meta.retried_from_dlq_at);
  EXPECT_FALSE(queue.requeue(id));
  EXPECT_FALSE(queue.requeue("nobody"));
}

TEST_F(AQueue, SaysWhichDeadLetterCannotBeRead) {
  run({"HSET", "shop:dlq:data", "m1", "{broken"});
  try {
    queue.requeue("m1");
    FAIL();
  } catch (const StoreError& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("m1"), HasSubstr("shop:dlq:data")));
  }
}

TEST_F(AQueue, AnUnreachableServerIsReported) {
  try {
    Queue{"mxrmq://127.0.0.1:1/0"};
    FAIL();
  } catch (const StoreError& error) {
    EXPECT_EQ(error.code(), Errc::unavailable);
  }
}

}  // namespace
}  // namespace easyretry::mxrmq
