#pragma once
// A queue in its own database on the shared Redis, and its keys.

#include <atomic>
#include <chrono>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "mxrmq/operations.h"
#include "support/test_database.h"

namespace easyretry::mxrmq {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using Texts = std::vector<std::string>;

// The time that scripts see; only the test moves it.
class SetClock final : public Clock {
 public:
  TimePoint now() const override { return TimePoint{Millis{millis_}}; }
  Instant steady() const override { return {}; }
  void move(Millis by) { millis_ += by.count(); }
  std::int64_t millis() const { return millis_; }

 private:
  std::atomic<std::int64_t> millis_ = system_clock().now().time_since_epoch().count();
};

inline constexpr std::string_view kTopic = "orders";

class QueueTest : public ::testing::Test {
 protected:
  std::string url(const std::string& options = "?prefix=shop") const {
    return "mxrmq" + database.url().substr(std::string{"redis"}.size()) + options;
  }
  QueueOptions options(const std::string& text = "?prefix=shop") const {
    QueueOptions options = parse_queue_url(url(text));
    options.clock = &clock;
    return options;
  }

  // Sends a command; returns the texts of an array, or the single answer.
  Texts run(const Texts& words) {
    Command command;
    for (const std::string& word : words) command.add(word);
    const Reply reply = link.run(command);
    if (reply.size() == 0) return Texts{std::string{reply.text()}};
    Texts texts;
    for (std::size_t i = 0; i < reply.size(); ++i) texts.emplace_back(reply.text(i));
    return texts;
  }
  std::int64_t number(const Texts& words) {
    Command command;
    for (const std::string& word : words) command.add(word);
    return link.run(command).integer();
  }
  std::string text(const Texts& words) { return run(words).front(); }
  Texts list(const std::string& key) {
    return number({"LLEN", "shop:" + key}) == 0 ? Texts{} : run({"LRANGE", "shop:" + key, "0", "-1"});
  }

  Message a_message(const std::string& id = "m1") const {
    Message message;
    message.id = id;
    message.topic = kTopic;
    message.created_at = clock.millis();
    message.payload = R"({"n":1})";
    return message;
  }
  void produced(const std::string& id = "m1") { ASSERT_TRUE(produce(link, a_message(id), 24h)); }
  LeasedMessage claimed(const std::string& token = "worker-1", Millis lease = 30s) {
    auto claim = mxrmq::claim(link, kTopic, token, lease, 1);
    EXPECT_THAT(claim.messages, SizeIs(1));
    return claim.messages.empty() ? LeasedMessage{} : claim.messages.front();
  }
  bool completed(const Lease& lease) { return complete(link, kTopic, {&lease, 1}).front(); }
  bool retried(const LeasedMessage& taken, Millis delay = 60s) {
    const Retry retry{taken.lease, delay, taken.json};
    return mxrmq::retry(link, kTopic, {&retry, 1}).front();
  }
  bool buried(const LeasedMessage& taken) { return bury(link, kTopic, {&taken, 1}).front(); }

  // All data of a message, anywhere.
  void expect_nothing_left() {
    EXPECT_EQ(run({"KEYS", "shop:*"}), Texts{""}) << "all keys but those of dead letters and errors";
  }

  // The steps of Python's scripts, so that a test can stop between any two.
  std::string python_takes() {
    return text({"LMOVE", "shop:orders:pending", "shop:orders:processing", "RIGHT", "LEFT"});
  }
  void python_leases(const std::string& id, Millis lease = 180s) {
    run({"ZADD", "shop:expires", std::to_string(clock.millis() + lease.count()), id});
  }
  void python_completes(const std::string& id) {
    run({"LREM", "shop:orders:processing", "1", id});
    run({"ZREM", "shop:expires", id});
    run({"HDEL", "shop:payloads", id, id + ":queue"});
  }
  void python_times_out(const std::string& id) {  // the first half; the second may never come
    run({"LREM", "shop:orders:processing", "1", id});
    run({"ZREM", "shop:expires", id});
  }
  void python_retries(const std::string& id, const std::string& json, Millis delay = 60s) {
    run({"HSET", "shop:payloads", id, json});
    run({"ZADD", "shop:delays", std::to_string(clock.millis() + delay.count()), id});
    run({"ZREM", "shop:expires", id});
    run({"LREM", "shop:orders:processing", "1", id});
  }

  SetClock clock;
  const test::TestDatabase database{test::ServerKind::redis};
  QueueConnection link{options()};
};

}  // namespace easyretry::mxrmq
