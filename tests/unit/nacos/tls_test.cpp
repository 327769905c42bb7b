#include <cstdlib>
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>

#include "support/temp_folder.h"
#include "unit/nacos/client_fixture.h"

namespace easyretry::test {
namespace {

using nacos::NamingClient;

// An authority, and what it vouches for: a server called nacos.test, and a client.
class Certificates {
 public:
  Certificates() {
    const std::string key = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 3650 ";
    run(key + "-subj /CN=authority -keyout ca.key -out ca.crt");
    const std::string by_ca = " -addext basicConstraints=critical,CA:FALSE -CA ca.crt -CAkey ca.key ";
    run(key + "-subj /CN=nacos.test -addext subjectAltName=DNS:nacos.test" + by_ca +
        "-keyout server.key -out server.crt");
    run(key + "-subj /CN=client" + by_ca + "-keyout client.key -out client.crt");
  }

  std::string file(const std::string& name) const { return (folder_.path() / name).string(); }
  std::string text(const std::string& name) const {
    std::ifstream in{file(name)};
    std::ostringstream text;
    text << in.rdbuf();
    return text.str();
  }

 private:
  void run(const std::string& command) {
    const std::string whole = "cd " + folder_.path().string() + " && " + command + " 2>/dev/null";
    if (std::system(whole.c_str()) != 0) throw std::runtime_error("failed: " + whole);
  }

  TempFolder folder_;
};

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

TEST_F(Tls, ConnectsToAServerThatIsVouchedFor) {
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

TEST_F(Tls, RefusesAServerThatNobodyVouchesFor) {
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
