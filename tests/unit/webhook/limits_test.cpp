// How many calls are in flight at once.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/webhook/support.h"

namespace easyretry::webhook {
namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::HasSubstr;

CallerOptions with_limits(std::size_t in_all, std::size_t per_server) {
  CallerOptions options = loopback_allowed();
  options.most_calls = in_all;
  options.most_per_server = per_server;
  return options;
}

class Limits : public testing::Test {
 protected:
  void start_calls(Caller& caller, const HandlerServer& to, int count) {
    for (int i = 0; i < count; ++i) calls.push_back(start(caller, {.url = to.url("/later"), .timeout = kPatience}));
  }
  static bool settles(const Caller& caller, std::size_t under_way, std::size_t waiting) {
    return test::eventually([&] { return caller.in_flight() == under_way && caller.waiting() == waiting; });
  }

  HandlerServer server;
  HandlerServer other;
  std::vector<std::future<CallResult>> calls;
};

TEST_F(Limits, OfAServerLetOthersBeCalled) {
  Caller caller{with_limits(100, 2)};
  start_calls(caller, server, 5);
  start_calls(caller, other, 1);
  EXPECT_TRUE(settles(caller, 3, 3));
  EXPECT_TRUE(server.holds(2));
  EXPECT_TRUE(other.holds(1));
}

TEST_F(Limits, LetTheNextBeginWhenOneHasEnded) {
  Caller caller{with_limits(2, 100)};
  start_calls(caller, server, 5);
  for (const std::size_t held : {2, 2, 1}) {
    ASSERT_TRUE(server.holds(held));
    ASSERT_TRUE(test::eventually([&] { return caller.in_flight() == held; }));
    server.answer();
  }
  for (auto& call : calls) EXPECT_EQ(words(get(call)), "answered 200");
  EXPECT_TRUE(settles(caller, 0, 0));
}

TEST_F(Limits, AreInTheErrorOfACallThatWasQueuedForTooLong) {
  Caller caller{with_limits(100, 1)};
  start_calls(caller, server, 1);
  ASSERT_TRUE(server.holds(1));
  const CallResult late = hear(caller, {.url = server.url("/later"), .timeout = 100ms});
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().code, Errc::unavailable);
  EXPECT_THAT(late.error().detail,
              AllOf(HasSubstr("timed out after 100ms"), HasSubstr("queued behind 1 calls to 127.0.0.1:"),
                    HasSubstr("most_per_server")));
  EXPECT_EQ(server.requests().size(), 1U);
}

}  // namespace
}  // namespace easyretry::webhook
