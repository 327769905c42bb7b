#include "storage/statement.h"

#include <stdexcept>

#include <gtest/gtest.h>

namespace easyretry::storage {
namespace {

TEST(Statement, NamesInBracesAreFilledIn) {
  const Statement claim{"claim", "UPDATE {table} t SET version = 2 WHERE t.id IN {ids} AND '{}' = '{1}' AND {table}.x"};
  EXPECT_EQ(claim.with({{"table", "retry_task"}, {"ids", "(1,2)"}}),
            "UPDATE retry_task t SET version = 2 WHERE t.id IN (1,2) AND '{}' = '{1}' AND retry_task.x");
}

TEST(Statement, AValueIsNotSearchedForNames) {
  const Statement find{"find", "SELECT {a}, {b}"};
  EXPECT_EQ(find.with({{"a", "{b}"}, {"b", "{a}"}}), "SELECT {b}, {a}");
}

TEST(Statement, AMissingOrUnusedValueIsAnError) {
  const Statement find{"find", "SELECT * FROM {table}"};
  EXPECT_THROW(find.with({}), std::logic_error);
  EXPECT_THROW(find.with({{"table", "t"}, {"history", "h"}}), std::logic_error);
}

TEST(Statement, AnOpenBraceAtTheEndIsText) {
  EXPECT_EQ((Statement{"odd", "SELECT '{"}).with({}), "SELECT '{");
  EXPECT_EQ((Statement{"odd", "SELECT '{table"}).with({}), "SELECT '{table");
}

}  // namespace
}  // namespace easyretry::storage
