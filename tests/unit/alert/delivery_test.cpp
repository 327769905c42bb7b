// A sender with channels that fail or hang.

#include "alert/delivery.h"

#include <atomic>
#include <mutex>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/eventually.h"
#include "unit/alert/support.h"

namespace easyretry::alert {
namespace {

using test::eventually;

constexpr SendPauses kShort{.between = {1ms, 1ms, 1ms}, .longest = 2ms};

// Returns the results of the script, then accepts everything.
class ScriptedChannel final : public Channel {
 public:
  struct Seen {
    std::mutex mutex;
    std::vector<std::string> ids;  // guarded by mutex
    std::size_t count() {
      const std::lock_guard lock{mutex};
      return ids.size();
    }
  };

  ScriptedChannel(std::vector<SendResult> script, std::shared_ptr<Seen> seen)
      : script_(std::move(script)), seen_(std::move(seen)) {}

  SendResult send(const Message&, const std::string& id, const std::stop_token&) override {
    const std::lock_guard lock{seen_->mutex};
    seen_->ids.push_back(id);
    return seen_->ids.size() <= script_.size() ? script_[seen_->ids.size() - 1] : SendResult{.arrived = true};
  }

 private:
  const std::vector<SendResult> script_;
  const std::shared_ptr<Seen> seen_;
};

// Does not answer until it is stopped.
class HangingChannel final : public Channel {
 public:
  SendResult send(const Message&, const std::string&, const std::stop_token& stop) override {
    std::mutex mutex;
    std::condition_variable_any stopped;
    std::unique_lock lock{mutex};
    stopped.wait(lock, stop, [] { return false; });
    return {.worth_retrying = true, .why = "it was stopped"};
  }
};

class SenderTest : public testing::Test {
 protected:
  static AlertsConfig config() {
    AlertRule rule;
    rule.channels = {"ops", "other"};
    rule.final_failures = 1;
    rule.wait = 0s;
    return config_with(rule);
  }

  std::unique_ptr<Sender> sender(std::vector<SendResult> script) {
    return std::make_unique<Sender>(
        "ops", std::make_unique<ScriptedChannel>(std::move(script), seen_), queue_, sent_,
        [this](LogLevel, std::string_view line) { logged_.emplace_back(line); }, kShort);
  }

  std::vector<std::string> logged_;  // by the sender's thread; read it after the sender has ended
  std::shared_ptr<ScriptedChannel::Seen> seen_ = std::make_shared<ScriptedChannel::Seen>();
  AlertQueue queue_{config()};
  SentMessages sent_;
};

TEST_F(SenderTest, TriesAgainWithTheSameIdUntilItArrives) {
  auto sender = this->sender({{.worth_retrying = true, .why = "503"}, {.worth_retrying = true, .why = "503"}});
  queue_.feed(event_of(EventKind::gave_up));
  ASSERT_TRUE(eventually([&] { return sender->delivered() == 1; }));
  EXPECT_EQ(seen_->ids.size(), 3U);
  EXPECT_EQ(seen_->ids[0], seen_->ids[2]);
  EXPECT_EQ(sender->failed(), 0U);
}

TEST_F(SenderTest, GivesUpAfterFourTriesLogsItAndContinues) {
  auto sender = this->sender(std::vector<SendResult>(4, {.worth_retrying = true, .why = "503"}));
  queue_.feed(event_of(EventKind::gave_up));
  ASSERT_TRUE(eventually([&] { return sender->failed() == 1; }));
  queue_.feed(event_of(EventKind::gave_up, "mail"));
  ASSERT_TRUE(eventually([&] { return sender->delivered() == 1; }));
  sender.reset();
  EXPECT_THAT(logged_,
              testing::ElementsAre(
                  "alerts: channel ops did not accept \"[EasyRetry] pay: 1 final failure\" after 4 tries: 503"));
}

TEST_F(SenderTest, DoesNotRetryAHopelessMessage) {
  auto sender = this->sender({{.why = "404"}});
  queue_.feed(event_of(EventKind::gave_up));
  ASSERT_TRUE(eventually([&] { return sender->failed() == 1; }));
  EXPECT_EQ(seen_->count(), 1U);
}

TEST_F(SenderTest, RemembersDeliveredAndFailedMessagesNewestFirst) {
  auto sender = this->sender({{.worth_retrying = true, .why = "503"}, {.why = "404"}});
  queue_.feed(event_of(EventKind::gave_up));
  ASSERT_TRUE(eventually([&] { return sender->failed() == 1; }));
  queue_.feed(event_of(EventKind::gave_up, "mail"));
  ASSERT_TRUE(eventually([&] { return sender->delivered() == 1; }));
  const std::vector<Sent> sent = sent_.latest();
  ASSERT_EQ(sent.size(), 2U);
  EXPECT_EQ(sent[0].message.handler, "mail");
  EXPECT_TRUE(sent[0].arrived);
  EXPECT_EQ(sent[1].message.handler, "pay");
  EXPECT_FALSE(sent[1].arrived);
  EXPECT_EQ(sent[1].tries, 2U);
  EXPECT_EQ(sent[1].why, "404");
}

TEST(SentMessages, KeepsTheLatest) {
  SentMessages sent;
  for (std::size_t i = 0; i < SentMessages::kMost + 2; ++i) sent.note({.channel = std::to_string(i)});
  EXPECT_EQ(sent.latest().size(), SentMessages::kMost);
  EXPECT_EQ(sent.latest().front().channel, "201");
}

TEST_F(SenderTest, SendsTheRestWhenItEnds) {
  AlertsConfig waits = config();
  waits.rules["rule"].wait = 1h;
  AlertQueue queue{waits};
  {
    const Sender sender{"ops", std::make_unique<ScriptedChannel>(std::vector<SendResult>{}, seen_), queue, sent_,
                        [](auto, auto) {}};
    queue.feed(event_of(EventKind::gave_up));
  }
  EXPECT_EQ(seen_->count(), 1U);
}

TEST_F(SenderTest, AChannelThatHangsHoldsUpNeitherFeedersNorOthersNorTheEndForLong) {
  auto hanging =
      std::make_unique<Sender>("other", std::make_unique<HangingChannel>(), queue_, sent_, [](auto, auto) {});
  auto sender = this->sender({});
  for (int i = 0; i < 10'000; ++i) queue_.feed(event_of(EventKind::gave_up, "h" + std::to_string(i % 100)));
  EXPECT_TRUE(eventually([&] { return sender->delivered() > 0; }));
  const auto begin = std::chrono::steady_clock::now();
  hanging.reset();
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 10s);
}

}  // namespace
}  // namespace easyretry::alert
