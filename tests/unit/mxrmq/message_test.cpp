// Messages as Python writes and reads them, field for field.

#include "mxrmq/message.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "mxrmq/raw_object.h"
#include "support/refusal.h"

namespace easyretry::mxrmq {
namespace {

using ::testing::HasSubstr;

// As mx-rmq 1.6.2 writes it, with every field that it knows.
constexpr std::string_view kWhole =
    R"({"id":"7c9e6679-7425-40de-944b-e07fc1f90ae7","version":"1.0","topic":"orders","priority":"high",)"
    R"("createdAt":1790000000001,"meta":{"status":"stuck_timeout","delay":5,"retryCount":2,"maxRetries":4,)"
    R"("retryDelays":[1,2],"lastError":"Grüße \"x\"","expireAt":1790000000002,"createdAt":1790000000003,)"
    R"("updatedAt":1790000000004,"lastRetryAt":1790000000005,"processingStartedAt":1790000000006,)"
    R"("completedAt":1790000000007,"deadLetterAt":1790000000008,"stuckDetectedAt":1790000000009,)"
    R"("stuckReason":"why","retriedFromDlqAt":1790000000010},"payload":{"a":[],"b":{},"c":9007199254740993}})";

Message whole() {
  Meta meta{.status = Status::stuck_timeout,
            .delay = 5,
            .retry_count = 2,
            .max_retries = 4,
            .retry_delays = {1, 2},
            .last_error = "Grüße \"x\"",
            .expire_at = 1790000000002,
            .created_at = 1790000000003,
            .updated_at = 1790000000004,
            .last_retry_at = 1790000000005,
            .processing_started_at = 1790000000006,
            .completed_at = 1790000000007,
            .dead_letter_at = 1790000000008,
            .stuck_detected_at = 1790000000009,
            .stuck_reason = "why",
            .retried_from_dlq_at = 1790000000010};
  return {.id = "7c9e6679-7425-40de-944b-e07fc1f90ae7",
          .version = "1.0",
          .topic = "orders",
          .priority = Priority::high,
          .created_at = 1790000000001,
          .meta = meta,
          .payload = R"({"a":[],"b":{},"c":9007199254740993})"};
}

std::string error_of(std::string_view json) {
  return test::refusal<MessageError>([&] { parse_message(json); });
}

TEST(Message, IsReadFieldForField) {
  EXPECT_EQ(parse_message(kWhole), whole());
}

TEST(Message, IsWrittenFieldForField) {
  EXPECT_EQ(to_json(whole()), kWhole);
}

TEST(Message, LeavesOutMissingFields) {
  const Message message{.id = "a", .topic = "t", .payload = "{}"};
  EXPECT_EQ(to_json(message),
            R"({"id":"a","version":"1.0","topic":"t","priority":"normal","createdAt":0,"meta":{"status":"pending",)"
            R"("delay":0,"retryCount":0,"maxRetries":3,"retryDelays":[60,300,1800],"expireAt":0,"createdAt":0,)"
            R"("updatedAt":0},"payload":{}})");
}

TEST(Message, HasPythonsDefaultsForMissingFields) {
  const Message message = parse_message(R"({"topic":" t ","payload":{}})");
  EXPECT_EQ(message, (Message{.id = "", .topic = "t", .payload = "{}"}));
}

TEST(Message, EveryStatusAndPriorityIsKnown) {
  for (const char* status : {"pending", "processing", "completed", "retrying", "dead_letter", "stuck_timeout"}) {
    const std::string json = std::string{R"({"topic":"t","meta":{"status":")"} + status + R"("},"payload":{}})";
    EXPECT_THAT(to_json(parse_message(json)), HasSubstr(std::string{R"("status":")"} + status + '"'));
  }
  for (const char* priority : {"low", "normal", "high"}) {
    const std::string json = std::string{R"({"topic":"t","priority":")"} + priority + R"(","payload":{}})";
    EXPECT_THAT(to_json(parse_message(json)), HasSubstr(std::string{R"("priority":")"} + priority + '"'));
  }
}

TEST(Message, MessagesThatPythonCannotReadAreRefused) {
  EXPECT_EQ(error_of("{"), "message is not JSON");
  EXPECT_EQ(error_of("[]"), "message is not a JSON object");
  EXPECT_EQ(error_of(R"({"payload":{}})"), "topic is missing");
  EXPECT_EQ(error_of(R"({"topic":"  ","payload":{}})"), "topic is missing");
  EXPECT_EQ(error_of(R"({"topic":"t"})"), "payload is missing");
  EXPECT_EQ(error_of(R"({"topic":"t","payload":[1]})"), "payload is not a JSON object");
  EXPECT_EQ(error_of(R"({"topic":"t","priority":"urgent","payload":{}})"), "priority is unknown");
  EXPECT_EQ(error_of(R"({"topic":"t","meta":{"status":"lost"},"payload":{}})"), "status is unknown");
  EXPECT_EQ(error_of(R"({"topic":"t","meta":{"retryCount":-1},"payload":{}})"), "retryCount is negative");
  EXPECT_EQ(error_of(R"({"topic":"t","meta":{"retryCount":1.5},"payload":{}})"), "retryCount is not an integer");
  EXPECT_EQ(error_of(R"({"topic":"t","meta":{"maxRetries":null},"payload":{}})"), "maxRetries is not an integer");
  EXPECT_EQ(error_of(R"({"topic":"t","meta":{"retryDelays":60},"payload":{}})"), "retryDelays is not a list");
}

TEST(Message, NumbersOfAnySizeAreAllowedInUnusedFields) {
  const std::string huge(600, '7');  // Python writes an integer with all its digits
  EXPECT_EQ(parse_message(R"({"topic":"t","payload":{"n":)" + huge + "}}").payload, R"({"n":)" + huge + "}");
  EXPECT_EQ(error_of(R"({"topic":"t","meta":{"retryCount":)" + huge + R"(},"payload":{}})"),
            "retryCount is out of range");
  EXPECT_EQ(error_of(R"({"topic":"t","meta":{"retryCount":18446744073709551615},"payload":{}})"),
            "retryCount is too large");
}

TEST(Message, NumbersThatPythonTakesForIntegersAreTaken) {
  const Message message = parse_message(R"({"topic":"t","meta":{"retryCount":"2","maxRetries":5.0},"payload":{}})");
  EXPECT_EQ(message.meta.retry_count, 2);
  EXPECT_EQ(message.meta.max_retries, 5);
}

// Python ignores a name that is not the alias, so retry_count must not count.
TEST(Message, OnlyAliasesCount) {
  EXPECT_EQ(parse_message(R"({"topic":"t","meta":{"retry_count":2},"payload":{}})").meta.retry_count, 0);
}

TEST(Message, RewritingKeepsUnknownFieldsByteForByte) {
  constexpr std::string_view kJson =
      "{ \"x\" : 123456789012345678901234567890 ,\n\"topic\":\"t\", \"meta\": {\"y\":[ ], \"retryCount\": 1, "
      "\"z\":1.10, \"lastError\":null},\"payload\":{\"e\":{ },\"f\":1e400,\"g\":\"\\u00e4\"} , \"w\":-0.0}";
  Meta meta = parse_message(kJson).meta;
  meta.retry_count = 2;
  meta.last_error = "boom";
  EXPECT_EQ(rewritten(kJson, meta),
            "{ \"x\" : 123456789012345678901234567890 ,\n\"topic\":\"t\", \"meta\": {\"y\":[ ], \"retryCount\": 2, "
            "\"z\":1.10, \"lastError\":\"boom\"},\"payload\":{\"e\":{ },\"f\":1e400,\"g\":\"\\u00e4\"} , \"w\":-0.0}");
}

TEST(Message, RewritingAddsTheMetaThatWasMissing) {
  Meta meta;
  meta.retry_count = 1;
  EXPECT_EQ(rewritten(R"({"topic":"t","payload":{}})", meta), R"({"topic":"t","payload":{},"meta":{"retryCount":1}})");
}

TEST(Message, RewritingRemovesEmptyFields) {
  Meta meta = parse_message(kWhole).meta;
  meta.last_error.reset();
  meta.retried_from_dlq_at.reset();
  const std::string json = rewritten(kWhole, meta);
  EXPECT_EQ(parse_message(json).meta, meta);
  EXPECT_EQ(json.find("lastError"), std::string::npos);
}

TEST(Message, AnErrorIsCutByCharactersAndNotByBytes) {
  std::string umlauts;
  for (int i = 0; i < 60; ++i) umlauts += "ü";
  EXPECT_EQ(first_characters(umlauts, 50), umlauts.substr(0, 100));
  EXPECT_EQ(first_characters("short", 50), "short");
  EXPECT_EQ(first_characters("a\xff", 50), "a\xef\xbf\xbd");
}

TEST(JsonSyntax, IsThatOfTheStandard) {
  for (const char* right :
       {"{}", " [ ] ", R"({"a":[1,-0.5e+3,0,true,false,null,"\u00e4\"\ud83d\ude00"]})", "\"\"", "-0"}) {
    EXPECT_TRUE(is_json(right)) << right;
  }
  for (const char* wrong : {"",
                            "{",
                            "}",
                            "{]",
                            "[1,]",
                            "{\"a\"}",
                            "{\"a\":}",
                            "{a:1}",
                            "01",
                            "1.",
                            ".5",
                            "+1",
                            "1e",
                            "-",
                            "NaN",
                            "tru",
                            "{} {}",
                            "\"",
                            "\"\\x\"",
                            "\"\\u12\"",
                            "\"\\ud83d\"",
                            "\"\\ude00\"",
                            "\"\\ud83d\\u0041\"",
                            "\"\n\"",
                            "\"\xff\"",
                            "{\"a\":1,}"}) {
    EXPECT_FALSE(is_json(wrong)) << wrong;
  }
  EXPECT_TRUE(is_json(std::string(200, '[') + std::string(200, ']')));
  EXPECT_FALSE(is_json(std::string(100'000, '[') + std::string(100'000, ']')));
}

TEST(RawObject, TheLastOfTwoEqualKeysCounts) {
  RawObject object{R"({"a":1,"a":2})"};
  EXPECT_EQ(object.find("a"), "2");
  object.set("a", "3");
  EXPECT_EQ(object.text(), R"({"a":1,"a":3})");
  object.erase("a");
  EXPECT_EQ(object.text(), "{}");
}

TEST(RawObject, KeysMayBeEscapedAndStringsMayHaveBraces) {
  const RawObject object{R"({"\u0061":"}\"{","b":[{"a":1}]})"};
  EXPECT_EQ(object.find("a"), R"("}\"{")");
  EXPECT_EQ(object.find("b"), R"([{"a":1}])");
}

TEST(RawObject, ErasesAtEveryPlace) {
  for (const char* key : {"a", "b", "c"}) {
    RawObject object{R"({ "a" : 1 , "b" : 2 , "c" : 3 })"};
    object.erase(key);
    EXPECT_EQ(object.find(key), std::nullopt);
    EXPECT_NO_THROW(RawObject{object.text()}) << object.text();
  }
}

}  // namespace
}  // namespace easyretry::mxrmq
