#include <stdexcept>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <easyretry/encryption.h>

#include "support/refusal.h"
#include "unit/seal/keys.h"

namespace easyretry {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

std::string refusal(const Encryption& encryption) {
  return test::refusal<std::invalid_argument>([&] { validate(encryption); });
}

TEST(Encryption, IsOffWithoutKeys) {
  EXPECT_FALSE(Encryption{}.enabled());
  EXPECT_EQ(refusal({}), "accepted");
}

TEST(Encryption, IsNotOffByMistake) {
  EXPECT_THAT(refusal({.current = "2026-11"}), HasSubstr("nothing would be encrypted"));
  EXPECT_THAT(refusal({.identity_key = "2026-11"}), HasSubstr("nothing would be encrypted"));
  EXPECT_THAT(refusal({.require = true}), HasSubstr("nothing would be encrypted"));
}

TEST(Encryption, AcceptsSeveralKeysOfWhichOneIsCurrent) {
  EXPECT_EQ(refusal({.current = "2026-11", .keys = {test::key_a(), test::key_b()}}), "accepted");
  EXPECT_EQ(refusal({.current = "2026-11", .keys = {test::key_a(), test::key_b()}, .identity_key = "2026-10"}),
            "accepted");
}

TEST(Encryption, RefusesIdsThatAreNotAmongTheKeys) {
  EXPECT_THAT(refusal({.current = "2026-12", .keys = {test::key_a()}}),
              AllOf(HasSubstr("encryption.current = \"2026-12\""), HasSubstr("add it there"), Not(HasSubstr("0102"))));
  EXPECT_THAT(refusal({.current = "", .keys = {test::key_a()}}), HasSubstr("encryption.current = \"\""));
  EXPECT_THAT(refusal({.current = "2026-10", .keys = {test::key_a()}, .identity_key = "first"}),
              HasSubstr("encryption.identity_key = \"first\""));
}

TEST(Encryption, RefusesOneIdOrOneSecretTwice) {
  EXPECT_THAT(refusal({.current = "x", .keys = {test::key_a("x"), test::key_b("x")}}),
              AllOf(HasSubstr("\"x\", \"x\""), HasSubstr("one id twice")));
  EXPECT_THAT(refusal({.current = "x", .keys = {test::key_a("x"), test::key_a("y")}}),
              AllOf(HasSubstr("\"x\", \"y\""), HasSubstr("two ids for one secret")));
}

}  // namespace
}  // namespace easyretry
