#include "webhook/guard.h"

#include <stdexcept>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "support/refusal.h"
#include "unit/webhook/addresses.h"

namespace easyretry::webhook {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

bool allows(const Guard& guard, const IpAddress& to, const std::string& host = "hooks.example",
            std::uint16_t port = 443) {
  return !guard.objection(to, host, port);
}

bool allows(const Guard& guard, const std::string& to, const std::string& host = "hooks.example",
            std::uint16_t port = 443) {
  return allows(guard, address(to), host, port);
}

std::string entry_refusal(const std::string& entry) {
  return test::refusal<std::invalid_argument>([&] { Guard{{entry}}; });
}

TEST(AGuard, LetsTheInternetBeCalled) {
  for (const char* open : {"1.1.1.1", "9.255.255.255", "11.0.0.0", "93.184.215.14", "172.15.255.255", "172.32.0.0",
                           "192.167.255.255", "223.255.255.255", "2606:4700::1111", "2a00:1450::1", "2003::1"}) {
    EXPECT_TRUE(allows(Guard{}, open)) << open;
  }
}

TEST(AGuard, RefusesAddressesThatOnlyWeCanReach) {
  for (const char* shut : {"127.0.0.1",
                           "127.255.255.254",
                           "0.0.0.0",
                           "0.1.2.3",
                           "10.0.0.1",
                           "172.16.0.1",
                           "172.31.255.255",
                           "192.168.0.1",
                           "100.64.0.1",
                           "100.100.100.200",
                           "169.254.169.254",
                           "168.63.129.16",
                           "192.0.0.192",
                           "192.0.2.1",
                           "198.51.100.1",
                           "203.0.113.1",
                           "192.88.99.1",
                           "198.18.0.1",
                           "198.19.255.255",
                           "224.0.0.1",
                           "239.255.255.255",
                           "240.0.0.1",
                           "255.255.255.255",
                           "::",
                           "::1",
                           "fe80::1",
                           "febf::1",
                           "fc00::1",
                           "fd00:ec2::254",
                           "ff02::1",
                           "2001:db8::1",
                           "3fff::1",
                           "100::1",
                           "fec0::1",
                           "2001::1",
                           "5f00::1",
                           "::ffff:127.0.0.1",
                           "::ffff:10.0.0.1",
                           "::127.0.0.1",
                           "::8.8.8.8",
                           "2002:7f00:1::",
                           "2002:808:808::1",
                           "64:ff9b::127.0.0.1",
                           "64:ff9b::a9fe:a9fe",
                           "64:ff9b:1::8.8.8.8"}) {
    EXPECT_FALSE(allows(Guard{}, shut)) << shut;
  }
}

TEST(AGuard, ChecksTheAddressInsideNat64) {
  EXPECT_TRUE(allows(Guard{}, "64:ff9b::8.8.8.8"));
  EXPECT_FALSE(allows(Guard{}, "64:ff9b::10.0.0.1"));
}

TEST(AGuard, SaysWhyAndHowToAllowIt) {
  EXPECT_THAT(*Guard{}.objection(address("10.1.2.3"), "billing.internal", 443),
              AllOf(HasSubstr("10.1.2.3 may not be called"), HasSubstr("a private network (10.0.0.0/8)"),
                    HasSubstr("add 10.1.2.3 or billing.internal to server.may_call")));
  EXPECT_THAT(*Guard{}.objection(address("169.254.169.254"), "metadata.example", 80),
              AllOf(HasSubstr("credentials"), HasSubstr("add 169.254.169.254 to"), Not(HasSubstr("metadata.example"))));
  EXPECT_THAT(*Guard{}.objection(address("::1"), "::1", 80), HasSubstr("add ::1 to"));
}

TEST(AGuard, AllowsTheNetworksOfItsList) {
  const Guard guard{{"10.1.0.0/16", "fd00::/8", "192.168.1.7"}};
  EXPECT_TRUE(allows(guard, "10.1.255.255"));
  EXPECT_TRUE(allows(guard, "::ffff:10.1.0.1"));
  EXPECT_TRUE(allows(guard, "fd00::7"));
  EXPECT_TRUE(allows(guard, "192.168.1.7"));
  EXPECT_FALSE(allows(guard, "10.2.0.1"));
  EXPECT_FALSE(allows(guard, "192.168.1.8"));
  EXPECT_FALSE(allows(guard, "fc00::7"));
  EXPECT_FALSE(allows(guard, "64:ff9b::10.1.0.1"));
  EXPECT_TRUE(allows(guard, "1.1.1.1"));
}

TEST(AGuard, AllowsTheHostsOfItsListWhereverTheyArePrivate) {
  const Guard guard{{"Billing.Internal", "localhost"}};
  EXPECT_TRUE(allows(guard, "10.1.2.3", "billing.internal"));
  EXPECT_TRUE(allows(guard, "127.0.0.1", "localhost"));
  EXPECT_FALSE(allows(guard, "10.1.2.3", "other.internal"));
  EXPECT_FALSE(allows(guard, "10.1.2.3", "x.billing.internal"));
  EXPECT_FALSE(allows(guard, "10.1.2.3", "billing.internal.evil.example"));
}

TEST(AGuard, AllowsCloudCredentialsOnlyByAddress) {
  EXPECT_FALSE(allows(Guard{{"metadata.internal"}}, "169.254.169.254", "metadata.internal"));
  EXPECT_FALSE(allows(Guard{{"metadata.internal"}}, "fe80::1", "metadata.internal"));
  EXPECT_TRUE(allows(Guard{{"169.254.169.254"}}, "169.254.169.254", "metadata.internal"));
}

TEST(AGuard, AllowsOnePortWhereTheListNamesOne) {
  const Guard guard{{"10.0.0.0/8:8080", "localhost:9000", "[fd00::7]:8080"}};
  EXPECT_TRUE(allows(guard, "10.1.2.3", "h", 8080));
  EXPECT_FALSE(allows(guard, "10.1.2.3", "h", 6379));
  EXPECT_TRUE(allows(guard, "127.0.0.1", "localhost", 9000));
  EXPECT_FALSE(allows(guard, "127.0.0.1", "localhost", 9001));
  EXPECT_TRUE(allows(guard, "fd00::7", "h", 8080));
  EXPECT_FALSE(allows(guard, "fd00::7", "h", 80));
}

TEST(AGuard, RefusesEntriesAndShowsTheCorrectForm) {
  for (const char* entry : {"",           " ",           "a b",          "http://localhost", "host:",  ":80",
                            "a..b",       "host.",       "*.internal",   "ü.example",        "[::1",   "[::1]80",
                            "[::1]:",     "[localhost]", "10.0.0.0/8:0", "10.0.0.0/8:65536", "host:x", "10.0.0.1/8",
                            "1.2.3.4/33", "fd00::/200",  "::1:80:"}) {
    EXPECT_THAT(entry_refusal(entry), AllOf(HasSubstr("allowed destination \"" + std::string{entry} + "\": "),
                                            HasSubstr("such as billing.internal:8080")))
        << entry;
  }
  EXPECT_THAT(entry_refusal("10.0.0.1/8"), HasSubstr("did you mean 10.0.0.0/8?"));
}

// The same ranges as numbers, so that a mistake in one of the two tables shows.
bool is_special(std::uint32_t n) {
  const auto between = [n](std::uint32_t first, std::uint32_t last) { return n >= first && n <= last; };
  return between(0x00000000, 0x00ffffff) || between(0x0a000000, 0x0affffff) || between(0x64400000, 0x647fffff) ||
         between(0x7f000000, 0x7fffffff) || between(0xa9fe0000, 0xa9feffff) || between(0xac100000, 0xac1fffff) ||
         between(0xc0000000, 0xc00000ff) || between(0xc0000200, 0xc00002ff) || between(0xc0586300, 0xc05863ff) ||
         between(0xc0a80000, 0xc0a8ffff) || between(0xc6120000, 0xc613ffff) || between(0xc6336400, 0xc63364ff) ||
         between(0xcb007100, 0xcb0071ff) || between(0xe0000000, 0xffffffff) || n == 0xa83f8110;
}

RC_GTEST_PROP(AGuard, RefusesExactlyTheSpecialIpv4Addresses, ()) {
  // Also near the ends of ranges, which random addresses would miss.
  const auto near =
      *rc::gen::element(0x00000000U, 0x0a000000U, 0x0b000000U, 0x64400000U, 0x64800000U, 0x7f000000U, 0x80000000U,
                        0xa83f8110U, 0xa9fe0000U, 0xa9ff0000U, 0xac100000U, 0xac200000U, 0xc0000000U, 0xc0000100U,
                        0xc0000200U, 0xc0000300U, 0xc0586300U, 0xc0586400U, 0xc0a80000U, 0xc0a90000U, 0xc6120000U,
                        0xc6140000U, 0xc6336400U, 0xc6336500U, 0xcb007100U, 0xcb007200U, 0xe0000000U);
  const auto number = *rc::gen::arbitrary<bool>() ? *rc::gen::arbitrary<std::uint32_t>()
                                                  : near + static_cast<std::uint32_t>(*rc::gen::inRange(-2, 3));
  RC_ASSERT(allows(Guard{}, v4(number)) == !is_special(number));
}

RC_GTEST_PROP(AGuard, JudgesATranslatedAddressByTheOneInIt, ()) {
  const IpAddress four = any_v4();
  IpAddress translated = address("64:ff9b::");
  std::copy(four.bytes.begin() + 12, four.bytes.end(), translated.bytes.begin() + 12);
  RC_ASSERT(allows(Guard{}, translated) == allows(Guard{}, four));
}

RC_GTEST_PROP(AGuard, RefusesEveryIpv6AddressThatIsNoGlobalUnicast, ()) {
  const IpAddress six = any_v6();
  RC_PRE(six.bytes[0] >> 5 != 1 && six.bytes[0] != 0);
  RC_ASSERT(!allows(Guard{}, six));
}

RC_GTEST_PROP(AGuard, AllowsEverythingInANetworkOfItsListAndNothingMore, ()) {
  const std::string entry = *rc::gen::element<std::string>("10.0.0.0/8", "127.0.0.0/30", "fd00::/8", "::1", "0.0.0.0/0",
                                                           "::/0", "169.254.0.0/16");
  const Network network = parse_network(entry);
  const Guard guard{{entry}};
  const IpAddress inside = any_of(network);
  RC_PRE(network.contains(inside));  // ::/0 contains no IPv4 address
  RC_ASSERT(allows(guard, inside));
  const IpAddress other = any_address();
  RC_ASSERT(allows(guard, other) == (network.contains(other) || allows(Guard{}, other)));
}

RC_GTEST_PROP(AGuard, TakesAnyTextOrRefusesItByName, ()) {
  const auto text = *rc::gen::container<std::string>(rc::gen::elementOf(std::string{"0123456789af.:/[]-x \n"}));
  const std::string said = entry_refusal(text);
  RC_ASSERT(said == "accepted" || said.starts_with("allowed destination \"" + text + "\": "));
}

}  // namespace
}  // namespace easyretry::webhook
