// Login and naming over HTTPS.

#include <gtest/gtest.h>

#include "fault/child.h"
#include "nacos/http_api.h"
#include "support/certificates.h"

namespace easyretry::test {
namespace {

// Answers every request; uses one of the certificates.
class HttpsServer {
 public:
  HttpsServer(const Certificates& made, const std::string& name, std::vector<std::string> more = {})
      : process_("/usr/bin/env", arguments(made, name, std::move(more))) {
    constexpr std::string_view kReady = "ACCEPT 127.0.0.1:";
    std::string line = process_.read_line();
    while (!line.empty() && !line.starts_with(kReady)) line = process_.read_line();
    if (line.empty()) throw std::runtime_error("openssl s_server does not start");
    port_ = line.substr(kReady.size());
  }

  Result<nacos::HttpReply> ask(const nacos::TlsOptions& tls) const {
    return nacos::ask_by_http({"GET", "https://127.0.0.1:" + port_ + "/"}, tls, {Millis{10'000}, Millis{10'000}, {}});
  }

 private:
  static std::vector<std::string> arguments(const Certificates& made, const std::string& name,
                                            std::vector<std::string> more) {
    std::vector<std::string> all{"openssl",
                                 "s_server",
                                 "-www",
                                 "-accept",
                                 "127.0.0.1:0",
                                 "-cert",
                                 made.file(name + ".crt"),
                                 "-key",
                                 made.file(name + ".key")};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }

  fault::Child process_;
  std::string port_;
};

class Https : public testing::Test {
 protected:
  const Certificates made;
};

TEST_F(Https, AsksATrustedServer) {
  const HttpsServer server{made, "here"};
  const auto reply = server.ask({.ca_file = made.file("ca.crt")});
  ASSERT_TRUE(reply) << to_string(reply.error());
  EXPECT_EQ(reply->status, 200);
}

TEST_F(Https, RefusesAnUntrustedServer) {
  EXPECT_FALSE((HttpsServer{made, "here"}.ask({})));
}

TEST_F(Https, RefusesAServerWithAnotherName) {
  EXPECT_FALSE((HttpsServer{made, "server"}.ask({.ca_file = made.file("ca.crt")})));
}

TEST_F(Https, ShowsItsCertificateToAServerThatWantsOne) {
  const HttpsServer server{made, "here", {"-Verify", "1", "-verify_return_error", "-CAfile", made.file("ca.crt")}};
  EXPECT_FALSE(server.ask({.ca_file = made.file("ca.crt")}));
  const auto known = server.ask({.ca_file = made.file("ca.crt"),
                                 .certificate_file = made.file("client.crt"),
                                 .key_file = made.file("client.key")});
  ASSERT_TRUE(known) << to_string(known.error());
  EXPECT_EQ(known->status, 200);
}

}  // namespace
}  // namespace easyretry::test
