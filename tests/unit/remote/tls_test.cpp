// A daemon with a certificate of its own authority.

#include "support/certificates.h"
#include "unit/remote/support.h"

namespace easyretry::test {
namespace {

struct RemoteTls : RemoteTest {
  RemoteTls() { restart_with("here"); }

  // "here" is a certificate for 127.0.0.1, "server" one for another name.
  void restart_with(const std::string& name) {
    certificate = certificates.file(name + ".crt");
    private_key = certificates.file(name + ".key");
    daemon.reset();
    start_daemon();
  }
  std::string by_http() const { return "http://127.0.0.1:" + std::to_string(port); }

  RemoteOptions trusting(const std::string& ca_file) const {
    RemoteOptions trusting = options();
    trusting.ca_file = ca_file;
    return trusting;
  }
  RemoteOptions trusting() const { return trusting(certificates.file("ca.crt")); }

  // The error of a submit; "accepted" if there was none.
  static std::string told(const std::string& address, const RemoteOptions& options) {
    RemoteEngine engine{address, options};
    auto pay = engine.retryable(
        "pay", [](const Order&) {}, quick());
    try {
      pay.submit({"o1", 5});
    } catch (const StoreError& e) {
      EXPECT_EQ(e.code(), Errc::unavailable) << "nothing was done, and that is known";
      return e.what();
    }
    return "accepted";
  }
  bool nothing_is_stored() const { return RemoteEngine{url, trusting()}.list({}).empty(); }

  Certificates certificates;
};

TEST_F(RemoteTls, CallsAreStoredAndRunThroughTls) {
  ASSERT_THAT(url, HasSubstr("https://"));
  RemoteEngine engine{url, trusting()};
  std::atomic<int> calls{0};
  auto pay = engine.retryable(
      "pay",
      [&](const Order&) -> Receipt {
        if (++calls == 1) throw Busy("the gateway is busy");
        return {200};
      },
      quick());
  const auto paid = pay({"o1", 5});
  ASSERT_TRUE(paid.stored());
  engine.start();
  EXPECT_TRUE(eventually([&] { return ended(engine, paid.task(), Outcome::succeeded); }));
  EXPECT_EQ(calls, 2);
}

TEST_F(RemoteTls, ADaemonWithAnUntrustedCertificateGetsNothing) {
  const Certificates others;
  for (const RemoteOptions& suspicious : {options(), trusting(others.file("ca.crt"))}) {
    EXPECT_THAT(told(url, suspicious),
                AllOf(HasSubstr("the certificate of " + url + " is not trusted"), HasSubstr("local issuer certificate"),
                      HasSubstr("set ca_file to the authority that signed it")));
  }
  EXPECT_TRUE(nothing_is_stored());
}

TEST_F(RemoteTls, ACertificateForAnotherNameIsNotTrusted) {
  restart_with("server");
  EXPECT_THAT(told(url, trusting()), AllOf(HasSubstr("is not trusted"), HasSubstr("127.0.0.1")));
  restart_with("here");
  EXPECT_TRUE(nothing_is_stored());
}

TEST_F(RemoteTls, AnHttpUrlForATlsPortIsReported) {
  EXPECT_THAT(told(by_http(), options()), AllOf(HasSubstr("the daemon at " + by_http() + " says: this port speaks TLS"),
                                                HasSubstr("use https:// instead of http://")));
  EXPECT_TRUE(nothing_is_stored());
}

TEST_F(RemoteTls, AnHttpsUrlForADaemonWithoutACertificateIsReported) {
  certificate.clear();
  private_key.clear();
  daemon.reset();
  start_daemon();
  EXPECT_THAT(told("https://127.0.0.1:" + std::to_string(port), trusting()),
              AllOf(HasSubstr("does not speak TLS"), HasSubstr("use http:// for a daemon without a certificate")));
}

TEST_F(RemoteTls, AnAuthorityThatCannotBeReadIsRefusedAtOnce) {
  EXPECT_THAT(refusal([&] {
                RemoteEngine{url, trusting("/nowhere/ca.pem")};
              }),
              HasSubstr("ca_file /nowhere/ca.pem cannot be read"));
  std::ofstream{folder.path() / "rubbish.pem"} << "no certificate\n";
  EXPECT_THAT(told(url, trusting((folder.path() / "rubbish.pem").string())), HasSubstr("is not trusted"));
}

}  // namespace
}  // namespace easyretry::test
