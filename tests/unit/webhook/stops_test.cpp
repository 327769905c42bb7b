// Calls that are ended from outside. Each callback runs exactly once.

#include <atomic>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/together.h"
#include "unit/webhook/raw_server.h"
#include "unit/webhook/support.h"

namespace easyretry::webhook {
namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::HasSubstr;

class Stops : public testing::Test {
 protected:
  Stops() {
    CallerOptions options = loopback_allowed();
    options.most_per_server = 1;
    options.look_up = [may_go_on = go_on.get_future().share()](const std::string&) -> Addresses {
      may_go_on.wait();
      return std::vector{parse_address("127.0.0.1").value()};
    };
    caller.emplace(options);
  }
  ~Stops() override {
    caller.reset();
    go_on.set_value();
  }
  Call later(std::stop_token stop = {}) const {
    return {.url = server.url("/later"), .timeout = kPatience, .stop = stop};
  }
  Call unknown(std::stop_token stop = {}) const {
    return {.url = server.url("/", "unknown.example"), .timeout = kPatience, .stop = stop};
  }

  HandlerServer server;
  std::promise<void> go_on;
  std::optional<Caller> caller;
};

void expect_ended(std::future<CallResult>& future, Errc code, const std::string& why, const std::string& how_far) {
  const CallResult heard = get(future);
  ASSERT_FALSE(heard);
  EXPECT_EQ(to_string(heard.error().code), to_string(code));
  EXPECT_THAT(heard.error().detail, AllOf(HasSubstr(why), HasSubstr(how_far)));
}

TEST_F(Stops, EndACallThatIsWaitedForAtOnceAndItsConnection) {
  std::stop_source stop;
  auto call = start(*caller, later(stop.get_token()));
  ASSERT_TRUE(server.holds(1));
  stop.request_stop();
  expect_ended(call, Errc::in_doubt, "it was stopped", "the request was sent");
  EXPECT_TRUE(test::eventually([&] { return caller->in_flight() == 0; }));
}

TEST_F(Stops, EndAQueuedCallAndOneWhoseNameIsLookedUp) {
  std::stop_source stop;
  auto first = start(*caller, later());
  ASSERT_TRUE(server.holds(1));
  auto in_line = start(*caller, later(stop.get_token()));
  auto looked_up = start(*caller, unknown(stop.get_token()));
  ASSERT_TRUE(test::eventually([&] { return caller->waiting() == 1 && caller->in_flight() == 2; }));
  stop.request_stop();
  expect_ended(in_line, Errc::unavailable, "it was stopped", "queued behind");
  expect_ended(looked_up, Errc::unavailable, "it was stopped", "looked up");
  server.answer();
  EXPECT_EQ(words(get(first)), "answered 200");
  EXPECT_EQ(server.requests().size(), 1U);
}

TEST_F(Stops, BeforeTheCallPreventItFromBeingSent) {
  std::stop_source stop;
  stop.request_stop();
  auto call = start(*caller, later(stop.get_token()));
  expect_ended(call, Errc::unavailable, "it was stopped", "queued behind");
  EXPECT_TRUE(server.requests().empty());
}

TEST_F(Stops, AfterTheEndChangeNothing) {
  std::stop_source stop;
  auto call = start(*caller, later(stop.get_token()));
  ASSERT_TRUE(server.holds(1));
  server.answer();
  EXPECT_EQ(words(get(call)), "answered 200");
  stop.request_stop();
  auto next = start(*caller, later());
  ASSERT_TRUE(server.holds(1));
  server.answer();
  EXPECT_EQ(words(get(next)), "answered 200");
}

TEST_F(Stops, OfTheCallerEndAllItsCallsBeforeItIsGone) {
  auto sent = start(*caller, later());
  ASSERT_TRUE(server.holds(1));
  auto in_line = start(*caller, later());
  auto looked_up = start(*caller, unknown());
  caller.reset();
  for (auto* call : {&sent, &in_line, &looked_up}) {
    ASSERT_EQ(call->wait_for(0s), std::future_status::ready);
  }
  expect_ended(sent, Errc::in_doubt, "shut down", "the request was sent");
  expect_ended(in_line, Errc::unavailable, "shut down", "queued behind");
  expect_ended(looked_up, Errc::unavailable, "shut down", "");
}

// Three calls, of which the second is invalid.
TEST_F(Stops, OfTheCallerAlsoEndCallsThatCallbacksStart) {
  std::atomic<int> told{0};
  Caller& ending = *caller;
  ending.start(later(), [&](const CallResult&) {
    ++told;
    ending.start({.url = "wrong"}, [&](const CallResult&) {
      ++told;
      ending.start(later(), [&](const CallResult& third) {
        EXPECT_FALSE(third);
        ++told;
      });
    });
  });
  caller.reset();
  EXPECT_EQ(told, 3);
}

TEST_F(Stops, AreNotNeededForACallThatStartsAnother) {
  std::promise<CallResult> second;
  caller->start({.url = server.url("/1")}, [&](const CallResult&) {
    caller->start({.url = server.url("/2")}, [&](CallResult heard) { second.set_value(std::move(heard)); });
  });
  auto future = second.get_future();
  EXPECT_EQ(words(get(future)), "answered 200");
}

// Calls end by answers, stops, timeouts and the end of the caller, whichever comes first.
TEST(Racing, EachCallbackRunsExactlyOnce) {
  constexpr int kThreads = 4, kCalls = 150;
  HandlerServer server;
  CallerOptions options = loopback_allowed();
  options.most_per_server = 20;
  std::vector<std::atomic<int>> told(kThreads * kCalls);
  {
    Caller caller{options};
    test::together(kThreads, [&](int thread) {
      for (int i = 0; i < kCalls; ++i) {
        std::stop_source stop;
        const std::string path = i % 5 == 0 ? "/later" : "/";
        caller.start(
            {.url = server.url(path), .timeout = Millis{i % 5 == 0 ? 1 + i % 7 : 60'000}, .stop = stop.get_token()},
            [&one = told[static_cast<std::size_t>(thread * kCalls + i)]](const CallResult&) { ++one; });
        if (i % 3 == 0) stop.request_stop();
      }
      return 0;
    });
  }
  for (std::size_t i = 0; i < told.size(); ++i) EXPECT_EQ(told[i], 1) << i;
}

}  // namespace
}  // namespace easyretry::webhook
