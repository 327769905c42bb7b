#include "server/event_feed.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <easyretry/testing.h>

#include "server/refusal.h"

namespace easyretry::server {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

Event event(EventKind kind, const std::string& handler, const std::string& key) {
  Event event;
  event.kind = kind;
  event.task.id = TaskId{7};
  event.task.handler = handler;
  event.task.key = key;
  return event;
}

std::string heard(http::BodyStream& stream) {
  bool last = false;
  return stream.take(last);
}

// The id of the last event in this stream.
std::string last_id(const std::string& heard) {
  const auto at = heard.rfind("id: ") + 4;
  return heard.substr(at, heard.find('\n', at) - at);
}

struct EventFeedTest : ::testing::Test {
  void tell(const std::string& key, EventKind kind = EventKind::stored, const std::string& handler = "pay") {
    feed.tell(event(kind, handler, key));
  }

  testing::ManualClock clock;
  EventFeed feed{clock, {.watchers = 2, .kept = 3, .kept_for = 60s}};
};

TEST_F(EventFeedTest, SendsEventsFromNowOn) {
  feed.watch({}, "");
  tell("before");
  const auto stream = feed.watch({}, "");
  tell("after", EventKind::attempt_failed);
  EXPECT_THAT(heard(*stream), AllOf(Not(HasSubstr("before")), HasSubstr("\nevent: attempt_failed\ndata: {"),
                                    HasSubstr(R"("key":"after")")));
}

TEST_F(EventFeedTest, SendsOnlyTheRequestedEvents) {
  const auto stream = feed.watch({.kinds = {"gave_up"}, .handlers = {"pay"}}, "");
  heard(*stream);
  tell("1", EventKind::stored, "pay");
  tell("2", EventKind::gave_up, "mail");
  EXPECT_THAT(heard(*stream), IsEmpty());
  tell("3", EventKind::gave_up, "pay");
  EXPECT_THAT(heard(*stream), HasSubstr(R"("key":"3")"));
}

TEST_F(EventFeedTest, ContinuesWhereAClientWasCutOff) {
  const auto first = feed.watch({}, "");
  tell("1");
  const std::string seen = last_id(heard(*first));
  first->close();
  tell("2");
  tell("3", EventKind::stored, "mail");
  EXPECT_THAT(heard(*feed.watch({.handlers = {"pay"}}, seen)),
              AllOf(HasSubstr(R"("key":"2")"), Not(HasSubstr(R"("key":"1")")), Not(HasSubstr(R"("key":"3")")),
                    Not(HasSubstr("event: gap"))));
}

TEST_F(EventFeedTest, AClientThatHasHeardNothingYetMissesNothing) {
  const auto first = feed.watch({}, "");
  const std::string seen = last_id(heard(*first));
  first->close();
  tell("1");
  EXPECT_THAT(heard(*feed.watch({}, seen)), HasSubstr(R"("key":"1")"));
}

TEST_F(EventFeedTest, SaysWhereThereIsAGap) {
  const auto first = feed.watch({}, "");
  const std::string seen = last_id(heard(*first));
  for (const char* key : {"1", "2", "3", "4"}) tell(key);
  for (const std::string& id : {seen, std::string{"17-1"}, std::string{"nonsense"}, last_id(heard(*first)) + "0"}) {
    const auto stream = feed.watch({}, id);
    EXPECT_THAT(heard(*stream), AllOf(HasSubstr("event: gap"), Not(HasSubstr("key")))) << id;
    stream->close();
  }
}

TEST_F(EventFeedTest, KeepsNothingOnceNoClientHasWatchedForAWhile) {
  const auto first = feed.watch({}, "");
  tell("1");
  const std::string seen = last_id(heard(*first));
  first->close();
  tell("2");  // which notices that no client is left
  clock.advance(60s);
  tell("3");
  tell("4");
  EXPECT_THAT(heard(*feed.watch({}, seen)), HasSubstr("event: gap"));
}

TEST_F(EventFeedTest, RefusesClientsBeyondItsLimitUntilOneLeaves) {
  const auto first = feed.watch({}, "");
  const auto second = feed.watch({}, "");
  EXPECT_THROW(feed.watch({}, ""), Refusal);
  first->close();
  EXPECT_NO_THROW(feed.watch({}, ""));
}

TEST_F(EventFeedTest, EndsAllStreamsWhenItIsClosed) {
  const auto stream = feed.watch({}, "");
  feed.close();
  EXPECT_TRUE(stream->ended());
  EXPECT_THROW(feed.watch({}, ""), Refusal);
}

}  // namespace
}  // namespace easyretry::server
