#include "webhook/destination.h"

#include <stdexcept>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "support/refusal.h"

namespace easyretry::webhook {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

std::string url_refusal(const std::string& url) {
  return test::refusal<std::invalid_argument>([&] { parse_destination(url); });
}

TEST(ADestination, HasASchemeAHostAndAPort) {
  const Destination tls = parse_destination("https://Hooks.Example/pay?x=1");
  EXPECT_TRUE(tls.tls);
  EXPECT_EQ(tls.host, "hooks.example");
  EXPECT_EQ(tls.port, 443);
  EXPECT_EQ(tls.server(), "hooks.example:443");
  EXPECT_FALSE(tls.address);
  const Destination plain = parse_destination("HTTP://10.0.0.1:8080");
  EXPECT_FALSE(plain.tls);
  EXPECT_EQ(plain.server(), "10.0.0.1:8080");
  EXPECT_EQ(plain.address, parse_address("10.0.0.1"));
  const Destination six = parse_destination("http://[FD00::7]/");
  EXPECT_EQ(six.server(), "[fd00::7]:80");
  EXPECT_EQ(six.address, parse_address("fd00::7"));
}

TEST(ADestination, IsShownWithoutItsPathWhichMayBeASecret) {
  for (const char* url : {"https://h.example:8443/a/s3cret", "https://h.example:8443/a?token=s3cret#x",
                          "https://h.example:8443?token=s3cret", "https://h.example:8443#s3cret"}) {
    EXPECT_EQ(parse_destination(url).shown, "https://h.example:8443/***") << url;
  }
  EXPECT_EQ(parse_destination("https://h.example/").shown, "https://h.example/");
  EXPECT_EQ(parse_destination("https://h.example").shown, "https://h.example");
}

// Other spellings of the same machine. The guard checks the address that is connected to, whatever the URL says.
TEST(ADestination, IsAnAddressHoweverItIsWritten) {
  for (const char* url : {"http://127.1/", "http://127.0.1/", "http://2130706433/", "http://0x7f000001/",
                          "http://0x7f.1/", "http://017700000001/", "http://0177.0.0.1/", "http://%31%32%37.0.0.1/"}) {
    EXPECT_EQ(parse_destination(url).address, parse_address("127.0.0.1")) << url;
  }
  EXPECT_EQ(parse_destination("http://[::ffff:7f00:1]/").address, parse_address("127.0.0.1"));
}

TEST(ADestination, IsHttpOrHttps) {
  for (const char* url : {"ftp://h.example/", "file:///etc/passwd", "gopher://h.example/", "unix:/run/x",
                          "javascript:x", "h.example/pay", "//h.example/", "/pay", "https:/", "http:h.example", ""}) {
    EXPECT_THAT(url_refusal(url), HasSubstr("this URL cannot be called")) << url;
  }
  EXPECT_THAT(url_refusal("ftp://h.example/"), HasSubstr("neither http:// nor https://"));
}

TEST(ADestination, HasNeitherUserNorPasswordAndDoesNotRepeatThem) {
  for (const char* url : {"https://joe:s3cret@h.example/", "https://s3cret@h.example/", "https://:s3cret@h.example/",
                          "http://s3cret@127.0.0.1/", "http://h.example:s3cret@127.0.0.1/"}) {
    EXPECT_THAT(url_refusal(url), AllOf(HasSubstr("user or a password"), Not(HasSubstr("s3cret")))) << url;
  }
}

TEST(ADestination, HasAHostAndAPortThatCanBeCalled) {
  for (const char* url :
       {"https:///pay", "https:////pay", "https://a@b@h.example/", "https://:443/", "https://h.example./",
        "http://127.0.0.1./", "http://localhost./", "http://h.example\\@127.0.0.1/", "http://h.example%40127.0.0.1/",
        "https://a..b/", "https://h_%2f/", "https://[::1%25lo]/", "https://[::g]/", "https://h.example:0/",
        "https://h.example:65536/", "https://h.example:x/", "https://h.example:-1/"}) {
    EXPECT_THAT(url_refusal(url), HasSubstr("this URL cannot be called")) << url;
  }
}

TEST(ADestination, IsWrittenInAscii) {
  EXPECT_THAT(url_refusal("https://bücher.example/"), HasSubstr("xn--"));
  for (const char* url :
       {"https://h.example/a b", "https://h.example/\r\nX: y", "https://h.example/\x01", "https://h.example/ü"}) {
    EXPECT_THAT(url_refusal(url), HasSubstr("%-escapes")) << url;
  }
  EXPECT_THAT(url_refusal("https://h.example/" + std::string(5000, 'a')), HasSubstr("1 to 4096 characters"));
  EXPECT_EQ(parse_destination("https://xn--bcher-kva.example/").host, "xn--bcher-kva.example");
}

RC_GTEST_PROP(ADestination, OfAnyTextIsRefusedOrCanBeCalled, ()) {
  const auto rest = *rc::gen::container<std::string>(rc::gen::elementOf(std::string{"ah0129.:/@%[]?#-_x\\ \n"}));
  const std::string url = "http://" + rest;
  if (url_refusal(url) != "accepted") return;
  const Destination destination = parse_destination(url);
  RC_ASSERT(destination.port != 0);
  RC_ASSERT(!destination.host.empty());
  RC_ASSERT(destination.host.find_first_of("@/?#\\ \n[]%") == std::string::npos);
}

}  // namespace
}  // namespace easyretry::webhook
