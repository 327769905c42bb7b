#include "storage/server/server_address.h"

#include <filesystem>
#include <fstream>
#include <stdexcept>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "storage/server/server_error.h"
#include "support/refusal.h"
#include "support/temp_folder.h"

namespace easyretry::storage::server {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

ServerAddress parsed(std::string_view url) {
  return parse_server_address(parse_store_url(url), url);
}

std::string address_refusal(std::string_view url) {
  return test::refusal<std::invalid_argument>([&] { parsed(url); });
}

TEST(ServerAddress, IsTakenApart) {
  const ServerAddress address = parsed("postgres://app:secret@db.example:6432/retry?shards=64");
  EXPECT_EQ(address.user, "app");
  EXPECT_EQ(address.password, "secret");
  EXPECT_EQ(address.host, "db.example");
  EXPECT_EQ(address.port, 6432);
  EXPECT_EQ(address.database, "retry");
}

TEST(ServerAddress, UserPasswordAndPortMayBeLeftOut) {
  const ServerAddress address = parsed("mysql://localhost/retry");
  EXPECT_EQ(address.user, "");
  EXPECT_EQ(address.password, "");
  EXPECT_EQ(address.port, 0);
}

TEST(ServerAddress, EscapesAreDecoded) {
  EXPECT_EQ(parsed("mysql://a%40b:p%2Fw%25@h/d").user, "a@b");
  EXPECT_EQ(parsed("mysql://a:p%2Fw%25@h/d").password, "p/w%");
  EXPECT_EQ(parsed("mysql://a:p@ss:word@h/d").password, "p@ss:word");
}

TEST(ServerAddress, KnowsIpv6) {
  const ServerAddress address = parsed("mysql://[::1]:3307/retry");
  EXPECT_EQ(address.host, "::1");
  EXPECT_EQ(address.port, 3307);
  EXPECT_EQ(parsed("mysql://[fe80::1]/retry").port, 0);
}

TEST(ServerAddress, HasAsManyHostsAsTheUrl) {
  const std::string url = "postgres://app:se,cret@one:5433,two,[::1]:5434/retry";
  const std::vector<ServerAddress> servers = parse_server_addresses(parse_store_url(url), url);
  ASSERT_EQ(servers.size(), 3U);
  EXPECT_EQ(servers[0].host, "one");
  EXPECT_EQ(servers[0].port, 5433);
  EXPECT_EQ(servers[1].host, "two");
  EXPECT_EQ(servers[1].port, 0);
  EXPECT_EQ(servers[2].host, "::1");
  EXPECT_EQ(servers[2].port, 5434);
  for (const ServerAddress& server : servers) {
    EXPECT_EQ(server.password, "se,cret");
    EXPECT_EQ(server.database, "retry");
  }
  const std::string_view gap = "postgres://app:hunter2@one,,two/retry";
  EXPECT_THAT(test::refusal<std::invalid_argument>([&] { parse_server_addresses(parse_store_url(gap), gap); }),
              AllOf(HasSubstr("no host"), Not(HasSubstr("hunter2"))));
}

TEST(ServerAddress, ReadsThePasswordFromAFileEachTime) {
  const test::TempFolder folder;
  const std::filesystem::path file = folder.path() / "password";
  const Password password = parsed("mysql://app@db/retry?password_file=" + file.string()).password;
  EXPECT_THAT(test::refusal<ServerError>([&] { password.current(); }), HasSubstr(file.string()));
  std::ofstream{file} << "first\n";
  EXPECT_EQ(password.current(), "first");
  std::ofstream{file} << "second";
  EXPECT_EQ(password.current(), "second");
  EXPECT_THAT(address_refusal("mysql://app:hunter2@db/retry?password_file=x"),
              AllOf(HasSubstr("password_file"), Not(HasSubstr("hunter2"))));
}

TEST(ServerAddress, RunsTheCommandOfThePasswordEachTime) {
  const test::TempFolder folder;
  const std::filesystem::path file = folder.path() / "password";
  const Password password = parsed("redis://db/0?password_command=/bin/cat%20" + file.string()).password;
  EXPECT_THAT(test::refusal<ServerError>([&] { password.current(); }), HasSubstr("/bin/cat"));
  std::ofstream{file} << "first\n";
  EXPECT_EQ(password.current(), "first");
  std::ofstream{file} << "second";
  EXPECT_EQ(password.current(), "second");
}

TEST(ServerAddress, APasswordHasOneSource) {
  EXPECT_THAT(address_refusal("mysql://app:hunter2@db/retry?password_command=/bin/x"),
              AllOf(HasSubstr("a password and a password_command"), Not(HasSubstr("hunter2"))));
  EXPECT_THAT(address_refusal("mysql://app@db/retry?password_command=/bin/x&password_file=x"),
              HasSubstr("a password_file and a password_command"));
}

TEST(ServerAddress, TheCommandOfThePasswordIsAFullPath) {
  for (const std::string_view command : {"token", "./token", "%20", "token%20/x"}) {
    EXPECT_THAT(address_refusal("mysql://app@db/retry?password_command=" + std::string{command}),
                HasSubstr("the full path of a program"));
  }
}

TEST(ServerAddress, MissingAndInvalidPartsAreNamedAndThePasswordNever) {
  EXPECT_THAT(address_refusal("postgres://app:hunter2@/retry"), AllOf(HasSubstr("no host"), Not(HasSubstr("hunter2"))));
  EXPECT_THAT(address_refusal("postgres://app:hunter2@db"), AllOf(HasSubstr("no database"), Not(HasSubstr("hunter2"))));
  EXPECT_THAT(address_refusal("postgres:retry"), HasSubstr("postgres://user:password@host:port/database"));
  EXPECT_THAT(address_refusal("postgres://app:hunter2@db:0/retry"),
              AllOf(HasSubstr("1 to 65535"), Not(HasSubstr("hunter2"))));
  EXPECT_THAT(address_refusal("postgres://app:hunter2/x@db/retry"), AllOf(HasSubstr("%2F"), Not(HasSubstr("hunter2"))));
  EXPECT_THAT(address_refusal("postgres://db:70000/retry"), HasSubstr("1 to 65535"));
  EXPECT_THAT(address_refusal("postgres://db:x/retry"), HasSubstr("1 to 65535"));
  EXPECT_THAT(address_refusal("postgres://app:hunter%2@db/retry"), AllOf(HasSubstr("%25"), Not(HasSubstr("hunter"))));
  EXPECT_THAT(address_refusal("postgres://[::1/retry"), HasSubstr("]"));
}

TEST(WithoutPassword, LeavesOutThePasswordAlone) {
  EXPECT_EQ(without_password("postgres://app:secret@db/retry?x=1"), "postgres://app@db/retry?x=1");
  EXPECT_EQ(without_password("postgres://app:se@c:ret@db/retry"), "postgres://app@db/retry");
  EXPECT_EQ(without_password("postgres://app:se/c?ret@db/retry"), "postgres://app@db/retry");
  EXPECT_EQ(without_password("postgres://app@db/retry"), "postgres://app@db/retry");
  EXPECT_EQ(without_password("postgres://db:5432/retry"), "postgres://db:5432/retry");
  EXPECT_EQ(without_password("sqlite:retry.db"), "sqlite:retry.db");
}

}  // namespace
}  // namespace easyretry::storage::server
