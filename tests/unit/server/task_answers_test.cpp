#include "server/task_answers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace easyretry::server {
namespace {

using namespace std::chrono_literals;

constexpr TimePoint kTime{1'772'366'400'000ms};  // 2026-03-01T12:00:00Z

task::TaskRecord small_record() {
  task::TaskRecord record;
  record.info.id = TaskId{910'048'318'464'253'839};
  record.info.name_space = "shop";
  record.info.key = "mail:7";
  record.info.handler = "mail.send";
  record.info.version = 1;
  record.info.created_at = kTime;
  record.info.next_at = kTime + 1500ms;
  return record;
}

task::TaskRecord full_record() {
  task::TaskRecord record = small_record();
  TaskInfo& info = record.info;
  info.business_type = "order";
  info.business_id = "o-7 \"ä\"";
  info.tags = {"b", "a"};
  info.traceparent = "00-1-2-01";
  info.state = TaskState::running;
  info.stage = Stage::on_final_failure;
  info.outcome = Outcome::exhausted;
  info.attempts = 3;
  info.crashes = 1;
  info.deliveries = 4;
  info.generation = 2;
  info.version = 9;
  info.first_failed_at = kTime + 1s;
  info.last_failed_at = kTime + 2s;
  info.last_error = "no route\nto host";
  info.progress = "half";
  record.rules = {16, 60'000ms, kTime + 24h, "fixed delay=1s"};
  record.locked_by = "host-1";
  record.lease_until = kTime + 30s;
  record.payload_version = 2;
  record.callback_attempts = 1;
  return record;
}

// Clients in other languages compare texts, so the bytes are fixed here.
TEST(TaskAnswer, HasOnlyTheFieldsThatATaskHas) {
  EXPECT_EQ(to_json(shown(small_record())),
            R"({"attempts":0,"crashes":0,"created_at":"2026-03-01T12:00:00.000Z","deliveries":0,"generation":0,)"
            R"("handler":"mail.send","id":"910048318464253839","key":"mail:7","namespace":"shop",)"
            R"("next_at":"2026-03-01T12:00:01.500Z","policy":{"max_attempts":0,"max_duration_ms":0},)"
            R"("stage":"run","state":"pending","tags":[],"version":1})");
}

TEST(TaskAnswer, HasItsLastAttempts) {
  task::TaskRecord record = small_record();
  record.info.last_attempts = {
      {.number = 2,
       .began_at = kTime,
       .ended_at = kTime + 1500ms,
       .end = AttemptEnd::failed,
       .by = "host-1",
       .error = "bank busy"},
      {.number = 1, .began_at = {}, .ended_at = kTime, .end = AttemptEnd::crashed, .by = "\xff"}};
  const std::string json = to_json(shown(record));
  EXPECT_THAT(json, ::testing::HasSubstr(
                        R"("last_attempts":[{"began_at":"2026-03-01T12:00:00.000Z","by":"host-1","end":"failed",)"
                        R"("ended_at":"2026-03-01T12:00:01.500Z","error":"bank busy","number":2,"took_ms":1500},)"
                        "{\"by\":\"(not UTF-8)\",\"end\":\"crashed\","
                        R"("ended_at":"2026-03-01T12:00:00.000Z","number":1}])"));
}

TEST(TaskAnswer, HasAllFieldsSortedByName) {
  const task::TaskRecord record = full_record();
  TaskAnswer answer = shown(record);
  answer.args = ShownJson{R"([{"to": "ann", "n": 1.50}])"};
  answer.payload_version = record.payload_version;
  answer.callback_attempts = record.callback_attempts;
  answer.result = ShownJson{"null"};
  answer.requeue_of = TaskId{17};
  answer.no_handler = true;
  EXPECT_EQ(
      to_json(answer),
      R"({"args":[{"n":1.5,"to":"ann"}],"attempts":3,"business_id":"o-7 \"ä\"","business_type":"order",)"
      R"("callback_attempts":1,"crashes":1,"created_at":"2026-03-01T12:00:00.000Z","deliveries":4,)"
      R"("first_failed_at":"2026-03-01T12:00:01.000Z","generation":2,"handler":"mail.send","id":"910048318464253839",)"
      R"("key":"mail:7","last_error":"no route\nto host","last_failed_at":"2026-03-01T12:00:02.000Z",)"
      R"("lease_until":"2026-03-01T12:00:30.000Z","locked_by":"host-1","namespace":"shop",)"
      R"("next_at":"2026-03-01T12:00:01.500Z","no_handler":true,"outcome":"exhausted","payload_version":2,)"
      R"("policy":{"backoff":"fixed delay=1s","deadline":"2026-03-02T12:00:00.000Z","max_attempts":16,)"
      R"("max_duration_ms":60000},"progress":"half","requeue_of":"17","result":null,"stage":"on_final_failure",)"
      R"("state":"running","tags":["b","a"],"traceparent":"00-1-2-01","version":9})");
}

TEST(TaskAnswer, OfAFinishedTaskHasNoDueTimeAndNoLease) {
  task::TaskRecord record = full_record();
  record.info.state = TaskState::finished;
  record.info.finished_at = kTime + 1h;
  record.info.requeued_as = TaskId{18};
  const std::string text = to_json(shown(record));
  EXPECT_EQ(text.find("next_at"), std::string::npos) << text;
  EXPECT_EQ(text.find("lease_until"), std::string::npos) << text;
  EXPECT_EQ(text.find("locked_by"), std::string::npos) << text;
  EXPECT_NE(text.find(R"("finished_at":"2026-03-01T13:00:00.000Z")"), std::string::npos) << text;
  EXPECT_NE(text.find(R"("requeued_as":"18")"), std::string::npos) << text;
}

TEST(TaskAnswer, OfAFinishedTaskSaysThatItsArgumentsWereRemoved) {
  task::TaskRecord record = full_record();
  record.payload = "[]";
  record.info.state = TaskState::finished;
  EXPECT_EQ(to_json(shown(record)).find("args_removed"), std::string::npos);
  record.payload.clear();
  EXPECT_NE(to_json(shown(record)).find(R"("args_removed":true)"), std::string::npos);
}

TEST(TaskAnswer, ShowsACorruptedTextAndStillHasTheRest) {
  task::TaskRecord record = small_record();
  record.info.last_error = "\xff";
  EXPECT_NE(to_json(shown(record)).find(R"x("last_error":"(not UTF-8)")x"), std::string::npos);
}

TEST(TaskAnswer, APageSaysWhereTheNextOneBegins) {
  EXPECT_EQ(to_json(TaskPage{}), R"({"tasks":[]})");
  EXPECT_EQ(to_json(TaskPage{.next = "older-5"}), R"({"next":"older-5","tasks":[]})");
}

TEST(EventAnswer, HasASummaryOfTheTask) {
  Event event{.kind = EventKind::retry_scheduled, .at = kTime, .task = full_record().info, .message = "no route"};
  EXPECT_EQ(to_json(shown(event)),
            R"({"at":"2026-03-01T12:00:00.000Z","kind":"retry_scheduled","message":"no route","task":{"attempts":3,)"
            R"("business_id":"o-7 \"ä\"","business_type":"order","handler":"mail.send","id":"910048318464253839",)"
            R"("key":"mail:7","namespace":"shop","next_at":"2026-03-01T12:00:01.500Z","outcome":"exhausted",)"
            R"("tags":["b","a"],"traceparent":"00-1-2-01","version":9}})");
  event.kind = EventKind::attempt_failed;
  EXPECT_EQ(to_json(shown(event)).find("next_at"), std::string::npos);
}

TEST(EventAnswer, OfATableHasNoTask) {
  const Event event{.kind = EventKind::table_made, .at = kTime, .table = "retry_task_7"};
  EXPECT_EQ(to_json(shown(event)), R"({"at":"2026-03-01T12:00:00.000Z","kind":"table_made","table":"retry_task_7"})");
}

}  // namespace
}  // namespace easyretry::server
