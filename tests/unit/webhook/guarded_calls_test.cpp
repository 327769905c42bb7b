// The guard when a connection is made, and name resolution.

#include <future>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/eventually.h"
#include "unit/webhook/support.h"

namespace easyretry::webhook {
namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::HasSubstr;
using testing::SizeIs;

IpAddress address(const std::string& text) {
  return parse_address(text).value();
}

// Resolves the names of this test.
CallerOptions knowing(LookUp look_up, std::vector<std::string> allowed = {}) {
  return {.guard = Guard{allowed}, .look_up = std::move(look_up)};
}

class GuardedCalls : public testing::Test {
 protected:
  // At once: libcurl alone would pause between addresses, for half of connect_within.
  std::string said(CallerOptions options, const std::string& url) {
    options.connect_within = 60s;
    Caller caller{std::move(options)};
    const CallResult heard = hear(caller, {.url = url, .timeout = 20s});
    if (!heard) {
      EXPECT_EQ(heard.error().code, Errc::invalid_argument);
    }
    return words(heard);
  }

  HandlerServer server;
};

TEST_F(GuardedCalls, DoNotReachANameOfThisMachine) {
  EXPECT_THAT(said({}, server.url("/", "localhost")), AllOf(HasSubstr("may not be called: it is this machine itself"),
                                                            HasSubstr("or localhost to server.may_call")));
  EXPECT_EQ(server.connections(), 0U);
}

TEST_F(GuardedCalls, DoNotReachThisMachineHoweverItIsWritten) {
  for (const char* host :
       {"127.0.0.1", "127.1", "2130706433", "0x7f000001", "0177.0.0.1", "0", "0.0.0.0", "[::1]", "[::ffff:127.0.0.1]",
        "[::ffff:7f00:1]", "[::127.0.0.1]", "[::]", "[64:ff9b::7f00:1]", "[2002:7f00:1::]"}) {
    EXPECT_THAT(said({}, server.url("/", host)), HasSubstr("may not be called")) << host;
  }
  EXPECT_EQ(server.connections(), 0U);
}

TEST_F(GuardedCalls, DoNotReachTheNetworksOfThisMachine) {
  for (const char* host : {"169.254.169.254", "2852039166", "[::ffff:169.254.169.254]", "[fe80::1]", "[fd00:ec2::254]",
                           "10.0.0.1", "192.168.1.1", "224.0.0.1", "255.255.255.255", "[ff02::1]"}) {
    EXPECT_THAT(said({}, server.url("/", host)), HasSubstr("may not be called")) << host;
  }
}

// Possible answers of mDNS, an internal DNS server or a hostile one.
TEST_F(GuardedCalls, DoNotReachANameInTheNetworksOfThisMachine) {
  for (const char* meant :
       {"192.168.1.7", "127.0.0.1", "::ffff:127.0.0.1", "64:ff9b::7f00:1", "169.254.169.254", "fe80::1"}) {
    const LookUp near = [&](const std::string&) -> Addresses { return std::vector{address(meant)}; };
    EXPECT_THAT(said(knowing(near), server.url("/", "printer.local")), HasSubstr("may not be called")) << meant;
  }
  EXPECT_EQ(server.connections(), 0U);
}

TEST_F(GuardedCalls, ReachAllowedHostsByNameOrNumber) {
  EXPECT_EQ(said({.guard = Guard{{"localhost"}}}, server.url("/", "localhost")), "answered 200");
  EXPECT_EQ(said({.guard = Guard{{"localhost:" + std::to_string(server.port())}}}, server.url("/", "LOCALHOST")),
            "answered 200");
  EXPECT_EQ(said({.guard = Guard{{"127.0.0.1"}}}, server.url()), "answered 200");
  EXPECT_THAT(said({.guard = Guard{{"localhost:1"}}}, server.url("/", "localhost")), HasSubstr("may not be called"));
  EXPECT_THAT(said({.guard = Guard{{"localhost"}}}, server.url()), HasSubstr("may not be called"));
}

// An earlier address of the name, and its address for others, must not count.
TEST_F(GuardedCalls, DoNotReachANewAddressOfAName) {
  std::atomic<int> asked{0};
  const LookUp rebinding = [&](const std::string&) -> Addresses {
    return std::vector{address(++asked == 1 ? "127.0.0.2" : "127.0.0.1")};
  };
  const HandlerServer other{{}, {.address = "127.0.0.2", .port = server.port()}};
  Caller caller{knowing(rebinding, {"127.0.0.2"})};
  ASSERT_TRUE(hear(caller, {.url = server.url("/", "fickle.example")}));
  Caller later{knowing(rebinding, {"127.0.0.2"})};
  EXPECT_THAT(words(hear(later, {.url = server.url("/", "fickle.example")})), HasSubstr("127.0.0.1 may not be called"));
  EXPECT_EQ(server.connections(), 0U);
}

TEST_F(GuardedCalls, SkipTheAddressesOfANameThatAreNotAllowed) {
  const HandlerServer other{{}, {.address = "127.0.0.2", .port = server.port()}};
  const LookUp both = [](const std::string&) -> Addresses {
    return std::vector{address("127.0.0.1"), address("10.255.255.1"), address("127.0.0.2")};
  };
  EXPECT_EQ(said(knowing(both, {"127.0.0.2"}), server.url("/", "both.example")), "answered 200");
  EXPECT_EQ(server.connections(), 0U);
  EXPECT_THAT(other.requests(), SizeIs(1));
  EXPECT_EQ(other.requests()[0].header("host"), "both.example:" + std::to_string(server.port()));
  EXPECT_THAT(said(knowing(both), server.url("/", "both.example")), HasSubstr("127.0.0.1 may not be called"));
}

TEST_F(GuardedCalls, GoByIpv6Too) {
  const HandlerServer six{{}, {.address = "::1"}};
  const LookUp by_six = [](const std::string&) -> Addresses { return std::vector{address("::1")}; };
  EXPECT_EQ(said(knowing(by_six, {"six.example"}), six.url("/", "six.example")), "answered 200");
  EXPECT_EQ(said(knowing(by_six, {"[::1]:" + std::to_string(six.port())}), six.url("/", "[::1]")), "answered 200");
  EXPECT_THAT(said(knowing(by_six), six.url("/", "six.example")), HasSubstr("::1 may not be called"));
}

TEST_F(GuardedCalls, LookUpANameOnceHoweverManyTheyAre) {
  std::atomic<int> asked{0};
  std::promise<void> go_on;
  const auto may_go_on = go_on.get_future().share();
  Caller caller{knowing(
      [&](const std::string&) -> Addresses {
        ++asked;
        may_go_on.wait();
        return std::vector{address("127.0.0.1")};
      },
      {"127.0.0.1"})};
  std::vector<std::future<CallResult>> calls;
  for (int i = 0; i < 100; ++i) calls.push_back(start(caller, {.url = server.url("/", "slow.example")}));
  ASSERT_TRUE(test::eventually([&] { return caller.in_flight() == 100; }));
  go_on.set_value();
  for (auto& call : calls) EXPECT_EQ(words(get(call)), "answered 200");
  EXPECT_EQ(words(hear(caller, {.url = server.url("/", "slow.example")})), "answered 200");
  EXPECT_EQ(asked, 1);
}

TEST_F(GuardedCalls, AreNotDelayedByNamesThatAreNeverResolved) {
  std::promise<void> go_on;
  const auto may_go_on = go_on.get_future().share();
  const LookUp look_up = [&, may_go_on](const std::string& host) -> Addresses {
    if (host != "known.example") may_go_on.wait();
    return std::vector{address("127.0.0.1")};
  };
  auto caller = std::make_unique<Caller>(knowing(look_up, {"127.0.0.1"}));
  ASSERT_EQ(words(hear(*caller, {.url = server.url("/", "known.example")})), "answered 200");
  std::vector<std::future<CallResult>> lost;
  for (int i = 0; i < 50; ++i) {
    lost.push_back(start(*caller, {.url = server.url("/", "dead" + std::to_string(i) + ".example"), .timeout = 300ms}));
  }
  EXPECT_EQ(words(hear(*caller, {.url = server.url("/", "known.example")})), "answered 200");
  for (auto& call : lost) {
    const CallResult heard = get(call);
    ASSERT_FALSE(heard);
    EXPECT_EQ(heard.error().code, Errc::unavailable);
    EXPECT_THAT(heard.error().detail, AllOf(HasSubstr("timed out"), HasSubstr("was still being looked up")));
  }
  caller.reset();  // does not wait for lookups
  go_on.set_value();
}

TEST_F(GuardedCalls, LookUpANameAgainWhenItsAddressDoesNotAnswer) {
  std::atomic<int> asked{0};
  const LookUp moving = [&](const std::string&) -> Addresses {
    return std::vector{address(++asked == 1 ? "127.0.0.3" : "127.0.0.1")};
  };
  Caller caller{knowing(moving, {"127.0.0.0/8"})};
  EXPECT_THAT(words(hear(caller, {.url = server.url("/", "moving.example")})), HasSubstr("could not connect"));
  EXPECT_EQ(words(hear(caller, {.url = server.url("/", "moving.example")})), "answered 200");
}

}  // namespace
}  // namespace easyretry::webhook
