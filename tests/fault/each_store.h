#pragma once
// Tests of every store that outlives a process: each kind of database server, and SQLite.

#include <optional>
#include <string>

#include <gtest/gtest.h>

#include "support/temp_folder.h"
#include "support/test_database.h"

namespace easyretry::fault {

// Without a kind: SQLite.
class OnEachStore : public ::testing::TestWithParam<std::optional<test::ServerKind>> {
 protected:
  OnEachStore() {
    if (GetParam()) database_.emplace(*GetParam());
  }

  std::string url() const { return database_ ? database_->url() : folder_.sqlite_url(); }

 private:
  const test::TempFolder folder_;
  std::optional<test::TestDatabase> database_;
};

inline std::string store_name(const ::testing::TestParamInfo<std::optional<test::ServerKind>>& info) {
  return info.param ? test::name_of(*info.param) : "sqlite";
}

// The name before the slash says which server ctest starts.
#define ON_EACH_STORE(suite)                                                                            \
  INSTANTIATE_TEST_SUITE_P(Sqlite, suite, ::testing::Values(std::nullopt), store_name);                 \
  INSTANTIATE_TEST_SUITE_P(Postgres, suite, ::testing::Values(test::ServerKind::postgres), store_name); \
  INSTANTIATE_TEST_SUITE_P(Mariadb, suite, ::testing::Values(test::ServerKind::mariadb), store_name);   \
  INSTANTIATE_TEST_SUITE_P(Redis, suite, ::testing::Values(test::ServerKind::redis), store_name)

}  // namespace easyretry::fault
