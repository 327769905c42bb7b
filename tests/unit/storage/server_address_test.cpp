#include "storage/server/server_address.h"

#include <stdexcept>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace easyretry::storage::server {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

ServerAddress parsed(std::string_view url) {
  return parse_server_address(parse_store_url(url), url);
}

std::string refusal(std::string_view url) {
  try {
    parsed(url);
    return {};
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
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

TEST(ServerAddress, WhatIsMissingOrWrongIsNamedAndThePasswordNever) {
  EXPECT_THAT(refusal("postgres://app:hunter2@/retry"), AllOf(HasSubstr("no host"), Not(HasSubstr("hunter2"))));
  EXPECT_THAT(refusal("postgres://app:hunter2@db"), AllOf(HasSubstr("no database"), Not(HasSubstr("hunter2"))));
  EXPECT_THAT(refusal("postgres:retry"), HasSubstr("postgres://user:password@host:port/database"));
  EXPECT_THAT(refusal("postgres://app:hunter2@db:0/retry"), AllOf(HasSubstr("1 to 65535"), Not(HasSubstr("hunter2"))));
  EXPECT_THAT(refusal("postgres://app:hunter2/x@db/retry"), AllOf(HasSubstr("%2F"), Not(HasSubstr("hunter2"))));
  EXPECT_THAT(refusal("postgres://db:70000/retry"), HasSubstr("1 to 65535"));
  EXPECT_THAT(refusal("postgres://db:x/retry"), HasSubstr("1 to 65535"));
  EXPECT_THAT(refusal("postgres://app:hunter%2@db/retry"), AllOf(HasSubstr("%25"), Not(HasSubstr("hunter"))));
  EXPECT_THAT(refusal("postgres://[::1/retry"), HasSubstr("]"));
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
