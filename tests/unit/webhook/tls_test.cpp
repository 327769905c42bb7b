#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/certificates.h"
#include "unit/webhook/support.h"

namespace easyretry::webhook {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class Tls : public testing::Test {
 protected:
  http::ServerOptions by(const std::string& name) const {
    return {.certificate = made.file(name + ".crt"), .private_key = made.file(name + ".key")};
  }
  CallResult hear_of(const HandlerServer& server, const std::string& ca_file) const {
    CallerOptions options = loopback_allowed();
    options.ca_file = ca_file;
    Caller caller{options};
    return hear(caller, {.url = server.url("/", "127.0.0.1", "https"), .body = "hello"});
  }
  std::string refusal(const HandlerServer& server, const std::string& ca_file) const {
    const CallResult heard = hear_of(server, ca_file);
    if (heard) return words(heard);
    EXPECT_EQ(heard.error().code, Errc::unavailable);
    EXPECT_TRUE(server.requests().empty());
    return heard.error().detail;
  }

  const test::Certificates made;
};

TEST_F(Tls, CallsATrustedServer) {
  const HandlerServer server{{}, by("here")};
  const CallResult heard = hear_of(server, made.file("ca.crt"));
  ASSERT_TRUE(heard) << words(heard);
  EXPECT_EQ(heard->body, "hello");
}

TEST_F(Tls, RefusesAnUntrustedServer) {
  const HandlerServer server{{}, by("here")};
  EXPECT_THAT(refusal(server, ""),
              AllOf(HasSubstr("no TLS with 127.0.0.1:"), HasSubstr("certificate"), HasSubstr("ca_file")));
}

TEST_F(Tls, RefusesAServerWithAnotherName) {
  const HandlerServer server{{}, by("server")};
  EXPECT_THAT(refusal(server, made.file("ca.crt")), HasSubstr("no TLS with 127.0.0.1:"));
}

TEST_F(Tls, RefusesAServerThatSpeaksPlainHttp) {
  const HandlerServer server;
  EXPECT_THAT(refusal(server, made.file("ca.crt")), HasSubstr("no TLS with 127.0.0.1:"));
}

}  // namespace
}  // namespace easyretry::webhook
