// What goes wrong when a store is opened, and what is said about it.

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <easyretry/error.h>

#include "storage/open.h"
#include "storage/postgres/errors.h"
#include "support/test_database.h"

namespace easyretry::storage::postgres {
namespace {

using sql::Trouble;
using test::ServerKind;
using test::TestDatabase;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

std::string refusal(const std::string& url) {
  try {
    open_store(url, system_clock());
    return {};
  } catch (const StoreError& error) {
    return error.what();
  }
}

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  return text.replace(text.find(what), what.size(), by);
}

class PostgresServer : public ::testing::Test {
 protected:
  const TestDatabase database{ServerKind::postgres};
  const std::string url = database.url() + "?sslmode=disable";
};

TEST_F(PostgresServer, AWrongPasswordIsToldAndNotShown) {
  EXPECT_THAT(refusal(replaced(url, "secret", "hunter2")),
              AllOf(HasSubstr("password"), HasSubstr("pg_hba.conf"), Not(HasSubstr("hunter2"))));
}

TEST_F(PostgresServer, AMissingDatabaseIsToldWithTheRemedy) {
  EXPECT_THAT(refusal(replaced(url, database.name(), "easyretry_nowhere")),
              AllOf(HasSubstr("easyretry_nowhere"), HasSubstr("CREATE DATABASE")));
}

TEST_F(PostgresServer, AServerThatIsNotThereIsNamed) {
  EXPECT_THAT(refusal("postgres://app:secret@127.0.0.1:1/retry"), AllOf(HasSubstr("127.0.0.1"), HasSubstr("refused")));
}

TEST_F(PostgresServer, AnotherNumberOfShardsIsRefusedWithTheRightOne) {
  open_store(url + "&shards=16", system_clock());
  EXPECT_THAT(refusal(url), AllOf(HasSubstr("16 shards"), HasSubstr("shards=16")));
}

TEST_F(PostgresServer, InfoSaysWhereAndHowSafelyAndNoSecret) {
  const auto info = open_store(url, system_clock())->info();
  EXPECT_THAT(info.url, AllOf(HasSubstr(database.name()), Not(HasSubstr("secret"))));
  EXPECT_THAT(info.durability, HasSubstr("fsync is off")) << "as the shared server of the tests is";
}

TEST(PostgresErrors, AreToldApartByWhatToDo) {
  EXPECT_EQ(trouble_of("40001"), Trouble::again);
  EXPECT_EQ(trouble_of("40P01"), Trouble::again);
  EXPECT_EQ(trouble_of("55P03"), Trouble::again);
  EXPECT_EQ(trouble_of("57P01"), Trouble::gone);
  EXPECT_EQ(trouble_of("57P02"), Trouble::gone);
  EXPECT_EQ(trouble_of("57P03"), Trouble::gone);
  EXPECT_EQ(trouble_of("08006"), Trouble::gone);
  EXPECT_EQ(trouble_of("57014"), Trouble::overloaded);
  EXPECT_EQ(trouble_of("53300"), Trouble::overloaded);
  EXPECT_EQ(trouble_of("53100"), Trouble::overloaded);
  EXPECT_EQ(trouble_of("25006"), Trouble::overloaded);
  EXPECT_EQ(trouble_of("28P01"), Trouble::refused);
  EXPECT_EQ(trouble_of("42501"), Trouble::refused);
  EXPECT_EQ(trouble_of("42703"), Trouble::refused);
  EXPECT_EQ(trouble_of("42P01"), Trouble::no_table);
  EXPECT_EQ(trouble_of("22021"), Trouble::bad_data);
  EXPECT_EQ(trouble_of("23505"), Trouble::bad_data);
  EXPECT_EQ(trouble_of("54000"), Trouble::bad_data);
  EXPECT_EQ(trouble_of("XX000"), Trouble::overloaded);
}

}  // namespace
}  // namespace easyretry::storage::postgres
