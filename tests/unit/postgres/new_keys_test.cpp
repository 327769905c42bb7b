#include <gtest/gtest.h>

#include "storage/postgres/session.h"

namespace easyretry::storage::postgres {
namespace {

using server::ServerError;
using server::Trouble;

constexpr std::size_t kMany = 2000;

Duplicates told(NewKeys& keys, std::size_t rows) {
  return keys.expect(rows, [](Duplicates duplicates) { return duplicates; });
}

void fail(NewKeys& keys, Trouble trouble) {
  EXPECT_THROW(keys.expect(kMany, [&](Duplicates) -> int { throw ServerError{trouble, "no"}; }), ServerError);
}

TEST(NewKeys, OnlyALargeBatchIsTakenForNew) {
  NewKeys keys;
  EXPECT_EQ(told(keys, 1), Duplicates::are_left_out);
  EXPECT_EQ(told(keys, kMany), Duplicates::fail);
}

TEST(NewKeys, AfterADuplicateTheNextThousandBatchesAreNot) {
  NewKeys keys;
  fail(keys, Trouble::again);
  for (int i = 0; i < 1000; ++i) ASSERT_EQ(told(keys, kMany), Duplicates::are_left_out) << i;
  EXPECT_EQ(told(keys, kMany), Duplicates::fail);
}

TEST(NewKeys, AServerThatIsGoneSaysNothingAboutKeys) {
  NewKeys keys;
  fail(keys, Trouble::gone);
  EXPECT_EQ(told(keys, kMany), Duplicates::fail);
}

}  // namespace
}  // namespace easyretry::storage::postgres
