#include "webhook/delivery.h"

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/url.h"

namespace easyretry::webhook {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

constexpr TimePoint kSent{1'614'265'330'999ms};

Endpoint endpoint() {
  return {"https://hooks.example/pay", {SigningSecret{"whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"}}, 5s};
}

Delivery delivery() {
  return {.task_id = "msg_p5jXN8AQM9LWM0D4loKWxJek",
          .task_key = "order-42",
          .handler = "payment.pay",
          .attempt = 3,
          .version = 17,
          .traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
          .body = R"({"test": 2432232314})"};
}

std::optional<std::string> header(const Call& call, const std::string& name) {
  const auto found = std::ranges::find(call.headers, name, &Header::name);
  return found == call.headers.end() ? std::nullopt : std::optional{found->value};
}

TEST(ADelivery, SaysWhichTaskThisIsAndIsSigned) {
  const Call call = to_call(delivery(), endpoint(), kSent, {});
  EXPECT_EQ(call.url, "https://hooks.example/pay");
  EXPECT_EQ(call.body, R"({"test": 2432232314})");
  EXPECT_EQ(call.timeout, 5s);
  EXPECT_EQ(header(call, "content-type"), "application/json");
  EXPECT_EQ(header(call, "webhook-id"), "msg_p5jXN8AQM9LWM0D4loKWxJek");
  EXPECT_EQ(header(call, "webhook-timestamp"), "1614265330");
  EXPECT_EQ(header(call, "webhook-signature"), "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
  EXPECT_EQ(header(call, "easyretry-task-id"), "msg_p5jXN8AQM9LWM0D4loKWxJek");
  EXPECT_EQ(header(call, "easyretry-task-key"), "order-42");
  EXPECT_EQ(header(call, "easyretry-handler"), "payment.pay");
  EXPECT_EQ(header(call, "easyretry-attempt"), "3");
  EXPECT_EQ(header(call, "easyretry-version"), "17");
  EXPECT_EQ(header(call, "traceparent"), "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01");
}

TEST(ADelivery, CarriesAnyKeyInVisibleAscii) {
  Delivery odd = delivery();
  odd.task_key = "Größe 100%\r\nx-admin: yes";
  odd.handler = "支付";
  const Call call = to_call(odd, endpoint(), kSent, {});
  EXPECT_EQ(header(call, "easyretry-task-key"), "Gr%C3%B6%C3%9Fe%20100%25%0D%0Ax-admin:%20yes");
  EXPECT_EQ(header(call, "easyretry-handler"), "%E6%94%AF%E4%BB%98");
}

TEST(ADelivery, LeavesOutAnInvalidTrace) {
  for (const char* trace : {"", "x", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7",
                            "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
                            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01\r\nx: y"}) {
    Delivery odd = delivery();
    odd.traceparent = trace;
    EXPECT_EQ(header(to_call(odd, endpoint(), kSent, {}), "traceparent"), std::nullopt) << trace;
  }
}

TEST(ADelivery, IsNeverSentUnsigned) {
  Endpoint unsigned_one = endpoint();
  unsigned_one.secrets.clear();
  EXPECT_THROW(to_call(delivery(), unsigned_one, kSent, {}), std::invalid_argument);
}

TEST(AHeader, CannotContainALineBreak) {
  for (const char* value : {"a\r\nx-admin: yes", "a\nb", "a\rb", "a\x01", "a\x7f"}) {
    EXPECT_THAT(objection({"x-key", value}).value_or("sent"), HasSubstr("x-key contains a line break")) << value;
  }
  EXPECT_THAT(objection({"x-key", std::string{"a\0b", 3}}).value_or("sent"), HasSubstr("control character"));
  for (const char* name : {"", "a b", "a:", "x\r\ny", "ä"}) {
    EXPECT_THAT(objection({name, "v"}).value_or("sent"), HasSubstr("not a header name")) << name;
  }
  EXPECT_EQ(objection({"x-Key_1", "any text\twith ü and , ; \""}), std::nullopt);
  EXPECT_EQ(objection({"x-key", ""}), std::nullopt);
}

TEST(AHeader, CannotOverrideThoseOfTheRequest) {
  for (const char* name : {"Host", "content-length", "Transfer-Encoding", "connection", "Expect"}) {
    EXPECT_THAT(objection({name, "1"}).value_or("sent"), HasSubstr("must not be set")) << name;
  }
}

RC_GTEST_PROP(AHeader, CarriesAnyTextAndGivesItBack, (const std::string& text)) {
  const std::string carried = header_text(text);
  RC_ASSERT(objection({"x-key", carried}) == std::nullopt);
  RC_ASSERT(carried.find(' ') == std::string::npos);
  RC_ASSERT(base::percent_decoded(carried) == text);
}

}  // namespace
}  // namespace easyretry::webhook
