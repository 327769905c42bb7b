#include "webhook/address.h"

#include <stdexcept>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "support/refusal.h"
#include "unit/webhook/addresses.h"

namespace easyretry::webhook {
namespace {

using testing::HasSubstr;

std::string network_refusal(const std::string& text) {
  return test::refusal<std::invalid_argument>([&] { parse_network(text); });
}

TEST(Address, IsReadAndWritten) {
  for (const char* text : {"0.0.0.0", "127.0.0.1", "255.255.255.255", "::", "::1", "2001:db8::1", "fe80::1"}) {
    EXPECT_EQ(to_string(parse_address(text).value()), text);
  }
  EXPECT_EQ(to_string(parse_address("2001:DB8:0:0:0:0:0:1").value()), "2001:db8::1");
}

TEST(Address, IsTheSameInsideAnIpv6Address) {
  EXPECT_EQ(parse_address("::ffff:10.0.0.1"), parse_address("10.0.0.1"));
  EXPECT_EQ(parse_address("::ffff:a00:1"), parse_address("10.0.0.1"));
  EXPECT_EQ(to_string(parse_address("::ffff:a00:1").value()), "10.0.0.1");
  EXPECT_NE(parse_address("::10.0.0.1"), parse_address("10.0.0.1"));
}

TEST(Address, IsNothingElse) {
  for (const char* text :
       {"",           " ",         "1",         "127.1",    "2130706433", "0x7f000001", "0177.0.0.1",
        "127.0.0.1.", "1.2.3.4.5", "256.0.0.1", "1.2.3.-4", " 1.2.3.4",   "1.2.3.4 ",   "[::1]",
        "::1%lo",     ":::",       "1::2::3",   "12345::",  "g::",        "localhost",  "1.2.3.4/32"}) {
    EXPECT_EQ(parse_address(text), std::nullopt) << text;
  }
  EXPECT_EQ(parse_address(std::string_view{"1.2.3.4\0", 8}), std::nullopt);
}

TEST(Network, IsReadAndWritten) {
  for (const char* text : {"0.0.0.0/0", "10.0.0.0/8", "192.168.1.0/31", "::/0", "fd00::/8", "2001:db8::/33"}) {
    EXPECT_EQ(to_string(parse_network(text)), text);
  }
  EXPECT_EQ(to_string(parse_network("10.1.2.3")), "10.1.2.3/32");
  EXPECT_EQ(to_string(parse_network("::1")), "::1/128");
}

TEST(Network, HasItsFirstAndItsLastAndNotTheirNeighbours) {
  const Network network = parse_network("172.16.0.0/12");
  for (const char* inside : {"172.16.0.0", "172.31.255.255", "::ffff:172.20.0.1"}) {
    EXPECT_TRUE(network.contains(parse_address(inside).value())) << inside;
  }
  for (const char* outside : {"172.15.255.255", "172.32.0.0", "::172.16.0.0"}) {
    EXPECT_FALSE(network.contains(parse_address(outside).value())) << outside;
  }
}

TEST(Network, IsOfOneFamily) {
  EXPECT_FALSE(parse_network("::/0").contains(parse_address("10.0.0.1").value()));
  EXPECT_FALSE(parse_network("0.0.0.0/0").contains(parse_address("::1").value()));
}

TEST(Network, IsRefusedWithTheCorrectForm) {
  EXPECT_THAT(network_refusal("10.0.0.1/8"), HasSubstr("did you mean 10.0.0.0/8?"));
  EXPECT_THAT(network_refusal("2001:db8::1/32"), HasSubstr("did you mean 2001:db8::/32?"));
  EXPECT_THAT(network_refusal("10.0.0.0/33"), HasSubstr("a number from 0 to 32"));
  EXPECT_THAT(network_refusal("::/129"), HasSubstr("a number from 0 to 128"));
  for (const char* text : {"10.0.0.0/", "10.0.0.0/-1", "10.0.0.0/+8", "10.0.0.0/8 ", "10.0.0.0/8/8"}) {
    EXPECT_THAT(network_refusal(text), HasSubstr("a number from 0 to 32")) << text;
  }
  for (const char* text : {"", "/8", "10.0.0/8", "home"}) {
    EXPECT_THAT(network_refusal(text), HasSubstr("neither an address nor a network")) << text;
  }
}

RC_GTEST_PROP(Address, ReadsBackEqual, ()) {
  const IpAddress address = any_address();
  RC_ASSERT(parse_address(to_string(address)) == address);
}

// One wrong character in an address: usually invalid, sometimes another address, but never one that is written
// differently.
RC_GTEST_PROP(Address, WithAnotherCharacterIsNothingOrReadsBackEqual, ()) {
  std::string text = to_string(any_address());
  text[*rc::gen::inRange<std::size_t>(0, text.size())] = *rc::gen::elementOf(std::string{"0123456789abf.:/%[] x"});
  const auto other = parse_address(text);
  RC_CLASSIFY(other.has_value());
  if (other) RC_ASSERT(parse_address(to_string(*other)) == other);
}

RC_GTEST_PROP(Network, HasExactlyTheAddressesWithItsFirstBits, ()) {
  const IpAddress one = any_address();
  const int written = *rc::gen::inRange(0, one.is_v4() ? 33 : 129);
  const int fixed = one.is_v4() ? 96 + written : written;
  const int other_bit = *rc::gen::inRange(one.is_v4() ? 96 : 0, 128);
  const Network network{with_zeros_from(one, fixed), fixed};
  RC_PRE(network.first.is_v4() == one.is_v4());
  const IpAddress other = with_flipped(one, other_bit);
  RC_PRE(other.is_v4() == one.is_v4());
  RC_ASSERT(network.contains(one));
  RC_ASSERT(network.contains(other) == (other_bit >= fixed));
  RC_ASSERT(parse_network(to_string(network)) == network);
}

}  // namespace
}  // namespace easyretry::webhook
