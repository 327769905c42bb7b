// A test of an application's own retries, with GoogleTest: no threads, no waiting, and you can inspect every step.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <easyretry/testing.h>

// The application. Normally it has its own files.
namespace shop {

using namespace std::chrono_literals;

struct LineBusy : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class Notifier {
 public:
  using Phone = std::function<void(const std::string& number)>;

  Notifier(easyretry::Engine& engine, Phone phone)
      : call_(engine.retryable("notify", std::move(phone),
                               easyretry::Policy{.backoff = easyretry::Ladder{1min, 1h},
                                                 .stop = {.max_attempts = 3},
                                                 .retry_on = {easyretry::type<LineBusy>()}})) {
    call_.on_final_failure(
        [this](const auto&, const easyretry::TaskInfo& task) { letters_.push_back(task.business_id); });
  }

  easyretry::TaskId notify(const std::string& customer, const std::string& number) {
    return call_.with({.business_id = customer}).submit(number);
  }
  const std::vector<std::string>& letters() const { return letters_; }  // for customers who could not be reached

 private:
  easyretry::Retryable<void, std::tuple<std::string>> call_;
  std::vector<std::string> letters_;
};

}  // namespace shop

// Its test.
namespace {

using easyretry::EventKind;
using easyretry::Outcome;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using namespace std::chrono_literals;

struct NotifierTest : ::testing::Test {
  easyretry::testing::ManualEngine engine;
  easyretry::testing::EventRecorder events{engine};
  int busy = 0;
  shop::Notifier notifier{engine, [this](const std::string&) {
                            if (busy-- > 0) throw shop::LineBusy("line busy");
                          }};
};

TEST_F(NotifierTest, CallsAgainAfterAMinuteWhenTheLineIsBusy) {
  busy = 1;
  const auto id = notifier.notify("alice", "555-1");
  EXPECT_EQ(engine.run_due(), 1U);
  EXPECT_EQ(engine.find(id)->next_at, engine.clock().now() + 1min);

  engine.clock().advance(59s);
  EXPECT_EQ(engine.run_due(), 0U) << "too early";
  engine.clock().advance(1s);
  EXPECT_EQ(engine.run_due(), 1U);
  EXPECT_EQ(engine.find(id)->outcome, Outcome::succeeded);
  EXPECT_THAT(notifier.letters(), IsEmpty());
}

TEST_F(NotifierTest, WritesALetterAfterThreeCalls) {
  busy = 100;
  const auto id = notifier.notify("alice", "555-1");
  EXPECT_EQ(engine.drain(), 4U);  // moves the clock to the next due time, again and again: three calls, one callback
  EXPECT_EQ(events.count(EventKind::attempt_failed), 3U);
  EXPECT_EQ(events.kinds(id).back(), EventKind::gave_up);
  EXPECT_THAT(notifier.letters(), ElementsAre("alice"));
}

TEST_F(NotifierTest, CallsNobodyTwiceAtATime) {
  EXPECT_EQ(notifier.notify("alice", "555-1"), notifier.notify("alice", "555-1"));
  EXPECT_EQ(engine.run_due(), 1U);
  EXPECT_THAT(events.kinds(), ElementsAre(EventKind::stored, EventKind::claimed, EventKind::succeeded));
}

}  // namespace
