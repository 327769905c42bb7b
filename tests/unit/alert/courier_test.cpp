// A courier and channels that fail as they like.

#include "alert/courier.h"

#include <atomic>
#include <mutex>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/eventually.h"
#include "unit/alert/support.h"

namespace easyretry::alert {
namespace {

using test::eventually;

constexpr Pauses kShort{.between = {1ms, 1ms, 1ms}, .longest = 2ms};

// What it does each time; then it takes everything.
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

  ScriptedChannel(std::vector<Told> script, std::shared_ptr<Seen> seen)
      : script_(std::move(script)), seen_(std::move(seen)) {}

  Told send(const Message&, const std::string& id, const std::stop_token&) override {
    const std::lock_guard lock{seen_->mutex};
    seen_->ids.push_back(id);
    return seen_->ids.size() <= script_.size() ? script_[seen_->ids.size() - 1] : Told{.arrived = true};
  }

 private:
  const std::vector<Told> script_;
  const std::shared_ptr<Seen> seen_;
};

// Never answers, until it is stopped.
class HangingChannel final : public Channel {
 public:
  Told send(const Message&, const std::string&, const std::stop_token& stop) override {
    std::mutex mutex;
    std::condition_variable_any stopped;
    std::unique_lock lock{mutex};
    stopped.wait(lock, stop, [] { return false; });
    return {.worth_retrying = true, .why = "it was stopped"};
  }
};

class CourierTest : public testing::Test {
 protected:
  static AlertsConfig config() {
    AlertRule rule;
    rule.channels = {"ops", "other"};
    rule.final_failures = 1;
    rule.wait = 0s;
    return config_with(rule);
  }

  std::unique_ptr<Courier> courier(std::vector<Told> script) {
    return std::make_unique<Courier>(
        "ops", std::make_unique<ScriptedChannel>(std::move(script), seen_), desk_,
        [this](LogLevel, std::string_view line) { logged_.emplace_back(line); }, kShort);
  }

  std::vector<std::string> logged_;  // by a courier's thread; to be looked at when it is gone
  std::shared_ptr<ScriptedChannel::Seen> seen_ = std::make_shared<ScriptedChannel::Seen>();
  Desk desk_{config()};
};

TEST_F(CourierTest, TriesAgainWithTheSameIdUntilItArrives) {
  auto courier = this->courier({{.worth_retrying = true, .why = "503"}, {.worth_retrying = true, .why = "503"}});
  desk_.feed(event_of(EventKind::gave_up));
  ASSERT_TRUE(eventually([&] { return courier->delivered() == 1; }));
  EXPECT_EQ(seen_->ids.size(), 3U);
  EXPECT_EQ(seen_->ids[0], seen_->ids[2]);
  EXPECT_EQ(courier->failed(), 0U);
}

TEST_F(CourierTest, GivesUpAfterFourTriesLogsAndGoesOn) {
  auto courier = this->courier(std::vector<Told>(4, {.worth_retrying = true, .why = "503"}));
  desk_.feed(event_of(EventKind::gave_up));
  ASSERT_TRUE(eventually([&] { return courier->failed() == 1; }));
  desk_.feed(event_of(EventKind::gave_up, "mail"));
  ASSERT_TRUE(eventually([&] { return courier->delivered() == 1; }));
  courier.reset();
  EXPECT_THAT(logged_,
              testing::ElementsAre(
                  "alerts: channel ops did not accept \"[EasyRetry] pay: 1 task failed for good\" after 4 tries: 503"));
}

TEST_F(CourierTest, DoesNotTryAgainWhatIsNoUse) {
  auto courier = this->courier({{.why = "404"}});
  desk_.feed(event_of(EventKind::gave_up));
  ASSERT_TRUE(eventually([&] { return courier->failed() == 1; }));
  EXPECT_EQ(seen_->count(), 1U);
}

TEST_F(CourierTest, TellsWhatIsLeftWhenItEnds) {
  AlertsConfig waits = config();
  waits.rules["rule"].wait = 1h;
  Desk desk{waits};
  {
    const Courier courier{"ops", std::make_unique<ScriptedChannel>(std::vector<Told>{}, seen_), desk,
                          [](auto, auto) {}};
    desk.feed(event_of(EventKind::gave_up));
  }
  EXPECT_EQ(seen_->count(), 1U);
}

TEST_F(CourierTest, AChannelThatHangsHoldsUpNeitherFeedersNorOthersNorTheEndForLong) {
  auto hanging = std::make_unique<Courier>("other", std::make_unique<HangingChannel>(), desk_, [](auto, auto) {});
  auto courier = this->courier({});
  for (int i = 0; i < 10'000; ++i) desk_.feed(event_of(EventKind::gave_up, "h" + std::to_string(i % 100)));
  EXPECT_TRUE(eventually([&] { return courier->delivered() > 0; }));
  const auto begin = std::chrono::steady_clock::now();
  hanging.reset();
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 10s);
}

}  // namespace
}  // namespace easyretry::alert
