#include <gtest/gtest.h>

#include "support/certificates.h"
#include "unit/nacos/client_fixture.h"

namespace easyretry::test {
namespace {

using nacos::NamingClient;

class Tls : public testing::Test {
 protected:
  FakeNacos server_with(const std::string& client_ca = {}) {
    return FakeNacos{{.certificate = made.text("server.crt"), .key = made.text("server.key"), .client_ca = client_ca}};
  }

  nacos::ClientOptions options_with(const FakeNacos& server, nacos::TlsOptions tls) {
    auto options = options_for({&server});
    options.tls = std::move(tls);
    return options;
  }

  Certificates made;
};

TEST_F(Tls, ConnectsToATrustedServer) {
  const FakeNacos server = server_with();
  const NamingClient client{options_with(server, {.ca_file = made.file("ca.crt"), .server_name = "nacos.test"})};
  EXPECT_TRUE(eventually([&] { return running(client); }));
}

TEST_F(Tls, RefusesAServerWithAnotherName) {
  const FakeNacos server = server_with();
  const NamingClient client{options_with(server, {.ca_file = made.file("ca.crt")})};
  ASSERT_TRUE(eventually([&] { return client.status().last_trouble.has_value(); }));
  EXPECT_EQ(server.count("ServerCheckRequest"), 0U);
}

TEST_F(Tls, RefusesAnUntrustedServer) {
  const FakeNacos server = server_with();
  const NamingClient client{options_with(server, {.server_name = "nacos.test"})};
  ASSERT_TRUE(eventually([&] { return client.status().last_trouble.has_value(); }));
  EXPECT_EQ(server.count("ServerCheckRequest"), 0U);
}

TEST_F(Tls, ShowsItsCertificateToAServerThatWantsOne) {
  const FakeNacos server = server_with(made.text("ca.crt"));
  const NamingClient stranger{options_with(server, {.ca_file = made.file("ca.crt"), .server_name = "nacos.test"})};
  ASSERT_TRUE(eventually([&] { return stranger.status().last_trouble.has_value(); }));
  const NamingClient known{options_with(server, {.ca_file = made.file("ca.crt"),
                                                 .certificate_file = made.file("client.crt"),
                                                 .key_file = made.file("client.key"),
                                                 .server_name = "nacos.test"})};
  EXPECT_TRUE(eventually([&] { return running(known); }));
  EXPECT_FALSE(running(stranger));
}

}  // namespace
}  // namespace easyretry::test
