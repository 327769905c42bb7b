// Errors when a store is opened, and their messages.

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <easyretry/error.h>

#include "storage/open.h"
#include "storage/postgres/session.h"
#include "support/plain_sql.h"
#include "support/refusal.h"
#include "support/test_database.h"

namespace easyretry::storage::postgres {
namespace {

using server::Trouble;
using test::ServerKind;
using test::TestDatabase;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

std::string refusal(const std::string& url) {
  return test::refusal<StoreError>([&] { open_store(url, system_clock()); });
}

class PostgresServer : public ::testing::Test {
 protected:
  // An administrator, connected to another database.
  static std::string manually(const std::string& statement) { return manually("easyretry", statement); }
  static std::string manually(const std::string& where, const std::string& statement) {
    return test::connect_plainly(ServerKind::postgres, test::shared_server_port(ServerKind::postgres), where)
        ->run(statement);
  }

  const TestDatabase database{ServerKind::postgres};
  const std::string url = database.url() + "?sslmode=disable";
};

TEST_F(PostgresServer, AServerThatIsNotThereIsNamed) {
  EXPECT_THAT(refusal("postgres://app:secret@127.0.0.1:1/retry"), AllOf(HasSubstr("127.0.0.1"), HasSubstr("refused")));
}

TEST_F(PostgresServer, AnotherNumberOfShardsIsRefusedWithTheRightOne) {
  open_store(url + "&shards=16", system_clock());
  EXPECT_THAT(refusal(url), AllOf(HasSubstr("the store has shards=16"), HasSubstr("set shards=16")));
}

TEST_F(PostgresServer, AReadOnlyDatabaseIsReportedWithARemedyAndUsedAgainOnceWritable) {
  const auto store = open_store(url, system_clock());
  manually("ALTER DATABASE " + database.name() + " SET default_transaction_read_only = on");
  const std::string at_once = refusal(url);
  manually("ALTER DATABASE " + database.name() + " RESET default_transaction_read_only");
  EXPECT_THAT(at_once, AllOf(HasSubstr("read-only"), HasSubstr("connect to the primary, or turn it off")));
  EXPECT_EQ(refusal(url), "accepted");
}

TEST_F(PostgresServer, WithoutTheRightToMakeTablesItIsRefusedWithTheGrantToMake) {
  manually(database.name(), "REVOKE CREATE ON SCHEMA public FROM PUBLIC, pg_database_owner");
  const std::string refused = refusal(url);
  manually(database.name(), "GRANT CREATE ON SCHEMA public TO pg_database_owner");
  EXPECT_THAT(refused, AllOf(HasSubstr("permission denied for schema public"), HasSubstr("GRANT CREATE, USAGE")));
  EXPECT_EQ(refusal(url), "accepted");
}

TEST_F(PostgresServer, WithoutASchemaToMakeTablesInItIsRefused) {
  manually("ALTER DATABASE " + database.name() + " SET search_path = nowhere");
  const std::string refused = refusal(url);
  manually("ALTER DATABASE " + database.name() + " RESET search_path");
  EXPECT_THAT(refused, AllOf(HasSubstr("no schema has been selected"), HasSubstr("search_path")));
}

TEST_F(PostgresServer, AnotherEncodingThanUtf8IsRefusedWithTheRemedy) {
  for (const std::string encoding : {"LATIN1", "SQL_ASCII"}) {
    manually("DROP DATABASE IF EXISTS easyretry_odd");
    manually("CREATE DATABASE easyretry_odd ENCODING '" + encoding +
             "' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0");
    EXPECT_THAT(refusal(test::server_url(ServerKind::postgres, test::shared_server_port(ServerKind::postgres),
                                         "easyretry_odd")),
                AllOf(HasSubstr(encoding), HasSubstr("ENCODING 'UTF8' TEMPLATE template0")));
  }
  manually("DROP DATABASE easyretry_odd");
}

TEST_F(PostgresServer, InfoSaysWhereAndHowSafelyAndNoSecret) {
  const auto info = open_store(url, system_clock())->info();
  EXPECT_THAT(info.url, AllOf(HasSubstr(database.name()), Not(HasSubstr("secret"))));
  EXPECT_THAT(info.durability.words, HasSubstr("fsync is off")) << "as the shared server of the tests is";
}

TEST_F(PostgresServer, AConnectionWithoutAPoolerIsNotTakenForOneBehindIt) {
  EXPECT_EQ(open_store(url, system_clock())->info().missing, "");
}

TEST_F(PostgresServer, AmongSeveralHostsTheFirstThatAnswersIsUsed) {
  const std::string port = std::to_string(test::shared_server_port(ServerKind::postgres));
  const std::string hosts = "postgres://easyretry:secret@127.0.0.1:1,127.0.0.1:" + port + "/" + database.name();
  EXPECT_EQ(refusal(hosts), "accepted");
  EXPECT_THAT(refusal(hosts + "?target_session_attrs=standby"), HasSubstr("not in hot standby mode"));
}

TEST(PostgresVersion, ThatIsTooOldIsNamed) {
  check_version(120000);
  EXPECT_EQ(test::refusal<server::ServerError>([] { check_version(110022); }),
            "the server is PostgreSQL 11; EasyRetry needs PostgreSQL 12 or newer");
}

TEST(PostgresErrors, AreDistinguishedByTheirRemedy) {
  EXPECT_EQ(trouble_of("40001"), Trouble::again);
  EXPECT_EQ(trouble_of("40P01"), Trouble::again);
  EXPECT_EQ(trouble_of("55P03"), Trouble::locked);
  EXPECT_EQ(trouble_of("57P01"), Trouble::gone);
  EXPECT_EQ(trouble_of("57P02"), Trouble::gone);
  EXPECT_EQ(trouble_of("57P03"), Trouble::gone);
  EXPECT_EQ(trouble_of("08006"), Trouble::gone);
  EXPECT_EQ(trouble_of("57014"), Trouble::overloaded);
  EXPECT_EQ(trouble_of("53300"), Trouble::overloaded);
  EXPECT_EQ(trouble_of("53100"), Trouble::overloaded);
  EXPECT_EQ(trouble_of("25006"), Trouble::overloaded);
  EXPECT_EQ(trouble_of("28P01"), Trouble::refused);
  EXPECT_EQ(trouble_of("3F000"), Trouble::refused);
  EXPECT_EQ(trouble_of("42501"), Trouble::refused);
  EXPECT_EQ(trouble_of("42703"), Trouble::refused);
  EXPECT_EQ(trouble_of("42P01"), Trouble::no_table);
  EXPECT_EQ(trouble_of("22021"), Trouble::bad_data);
  EXPECT_EQ(trouble_of("23502"), Trouble::bad_data);
  EXPECT_EQ(trouble_of("23505"), Trouble::again);
  EXPECT_EQ(trouble_of("54000"), Trouble::bad_data);
  EXPECT_EQ(trouble_of("XX000"), Trouble::overloaded);
}

}  // namespace
}  // namespace easyretry::storage::postgres
