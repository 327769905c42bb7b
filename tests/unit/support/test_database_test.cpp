#include "support/test_database.h"

#include <gtest/gtest.h>

#include "support/eventually.h"
#include "support/plain_sql.h"

namespace easyretry::test {
namespace {

// MariaDB's information_schema shows all databases, also those of tests that run beside this one.
std::string count_tables(const TestDatabase& database, ServerKind kind) {
  const std::string schema = kind == ServerKind::postgres ? "public" : database.name();
  return "SELECT count(*) FROM information_schema.tables WHERE table_schema = '" + schema + "'";
}

class EachTestDatabase : public ::testing::TestWithParam<ServerKind> {
 protected:
  static std::unique_ptr<PlainSql> connect(const TestDatabase& database) {
    return connect_plainly(GetParam(), shared_server_port(GetParam()), database.name());
  }
};

std::string name_of_kind(const ::testing::TestParamInfo<ServerKind>& info) {
  return name_of(info.param);
}

INSTANTIATE_TEST_SUITE_P(Shared, EachTestDatabase, ::testing::Values(ServerKind::postgres, ServerKind::mariadb),
                         name_of_kind);

TEST_P(EachTestDatabase, IsEmptyThoughAnotherTestLeftSomethingBehind) {
  for (int i = 0; i < 3; ++i) {
    const TestDatabase database{GetParam()};
    EXPECT_EQ(connect(database)->run(count_tables(database, GetParam())), "0");
    connect(database)->run("CREATE TABLE left_behind (n INT)");
    EXPECT_EQ(connect(database)->run(count_tables(database, GetParam())), "1");
  }
}

TEST_P(EachTestDatabase, BelongsToOneTestWhileItLives) {
  const TestDatabase one{GetParam()};
  const TestDatabase other{GetParam()};
  EXPECT_NE(one.name(), other.name());
  EXPECT_NE(one.url(), other.url());
}

TEST(PostgresTestDatabase, IsTakenFromConnectionsThatTheLastTestForgot) {
  auto first = std::make_unique<TestDatabase>(ServerKind::postgres);
  const std::string name = first->name();
  const auto forgotten = connect_plainly(ServerKind::postgres, shared_server_port(ServerKind::postgres), name);
  forgotten->run("CREATE TABLE locked (n INT)");
  forgotten->run("BEGIN");
  forgotten->run("LOCK TABLE locked");
  first.reset();

  // Others may be faster in taking it; in the end everybody gets it emptied.
  std::vector<std::unique_ptr<TestDatabase>> taken;
  ASSERT_TRUE(eventually([&] {
    taken.push_back(std::make_unique<TestDatabase>(ServerKind::postgres));
    if (taken.back()->name() == name) return true;
    if (taken.size() > 8) taken.clear();
    return false;
  }));
  EXPECT_THROW(forgotten->run("COMMIT"), SqlError);
}

TEST(MariadbTestDatabase, GoesAway) {
  const auto find = [](const std::string& name) {
    return connect_plainly(ServerKind::mariadb, shared_server_port(ServerKind::mariadb))
        ->run("SHOW DATABASES LIKE '" + name + "'");
  };
  std::string name;
  {
    const TestDatabase database{ServerKind::mariadb};
    name = database.name();
    EXPECT_EQ(find(name), name);
  }
  EXPECT_EQ(find(name), "");
}

}  // namespace
}  // namespace easyretry::test
