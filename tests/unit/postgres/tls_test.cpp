// TLS by libpq, with options of the url. The server's certificate is for 127.0.0.1 and localhost.

#include <cstdlib>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <easyretry/error.h>

#include "storage/open.h"
#include "support/plain_sql.h"
#include "support/refusal.h"
#include "support/test_database.h"

namespace easyretry::storage::postgres {
namespace {

using test::DatabaseServer;
using test::ServerKind;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

// The same machine under a name that its certificate does not have: libpq takes the address from the environment.
class AnotherName {
 public:
  static constexpr const char* kName = "db.example.com";
  AnotherName() { setenv("PGHOSTADDR", "127.0.0.1", 1); }
  ~AnotherName() { unsetenv("PGHOSTADDR"); }
  AnotherName(const AnotherName&) = delete;
  AnotherName& operator=(const AnotherName&) = delete;
};

class PostgresTls : public ::testing::Test {
 protected:
  std::string url(const std::string& mode, const std::string& host = "127.0.0.1") const {
    std::string text = database.url() + "?application_name=tls-test&sslmode=" + mode;
    return text.replace(text.find("127.0.0.1"), 9, host);
  }
  static std::string trusting(const std::filesystem::path& authority) { return "&sslrootcert=" + authority.string(); }

  // Whether the server sees the store's connections as encrypted: "t" or "f".
  std::string encrypted(const std::string& opened) const {
    const auto store = open_store(opened, system_clock());
    return test::connect_plainly(ServerKind::postgres, test::shared_server_port(ServerKind::postgres), database.name())
        ->run(
            "SELECT DISTINCT ssl FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) "
            "WHERE application_name = 'tls-test' AND datname = current_database()");
  }
  static std::string refusal(const std::string& opened) {
    return test::refusal<StoreError>([&] { open_store(opened, system_clock()); });
  }
  static auto is_told_without_secrets() { return AllOf(HasSubstr("sslrootcert in the url"), Not(HasSubstr("secret"))); }

  const test::TestDatabase database{ServerKind::postgres};
  const std::filesystem::path ours = test::shared_server_ca(ServerKind::postgres);
};

TEST_F(PostgresTls, IsUsedExactlyWhenAskedFor) {
  EXPECT_EQ(encrypted(url("disable")), "f");
  EXPECT_EQ(encrypted(url("require")), "t");
  for (const char* mode : {"verify-ca", "verify-full"}) EXPECT_EQ(encrypted(url(mode) + trusting(ours)), "t") << mode;
}

TEST_F(PostgresTls, AnotherNameIsAcceptedByAllButVerifyFull) {
  EXPECT_EQ(encrypted(url("verify-full", "localhost") + trusting(ours)), "t");
  const AnotherName other;
  EXPECT_EQ(encrypted(url("require", other.kName)), "t");
  EXPECT_EQ(encrypted(url("verify-ca", other.kName) + trusting(ours)), "t");
  EXPECT_THAT(refusal(url("verify-full", other.kName) + trusting(ours)),
              AllOf(HasSubstr(other.kName), HasSubstr("host name"), is_told_without_secrets()));
}

TEST_F(PostgresTls, AnotherAuthorityIsRefused) {
  const DatabaseServer other{ServerKind::postgres};
  for (const char* mode : {"verify-ca", "verify-full"}) {
    EXPECT_THAT(refusal(url(mode) + trusting(other.ca_certificate())),
                AllOf(HasSubstr("certificate verify failed"), is_told_without_secrets()))
        << mode;
  }
}

TEST_F(PostgresTls, WithoutACertificateToVerifyByEveryServerIsRefused) {
  EXPECT_THAT(refusal(url("verify-full") + trusting("/nowhere/ca.crt")),
              AllOf(HasSubstr("/nowhere/ca.crt"), is_told_without_secrets(), Not(HasSubstr("CREATE DATABASE"))));
}

TEST_F(PostgresTls, AnUnknownModeIsRefusedByItsName) {
  EXPECT_THAT(refusal(url("verify-everything")), AllOf(HasSubstr("verify-everything"), Not(HasSubstr("secret"))));
}

}  // namespace
}  // namespace easyretry::storage::postgres
