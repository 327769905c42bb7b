#include "support/database_server.h"

#include <gtest/gtest.h>

#include "support/plain_sql.h"

namespace easyretry::test {
namespace {

std::string name_of_server(const ::testing::TestParamInfo<ServerKind>& info) {
  return name_of(info.param);
}

// Whether a commit waits for the disk.
bool durable(ServerKind kind, int port) {
  if (kind == ServerKind::postgres) return connect_plainly(kind, port)->run("SHOW fsync") == "on";
  return connect_plainly(kind, port)->run("SELECT @@innodb_flush_log_at_trx_commit") == "1";
}

class EachDatabaseServer : public ::testing::TestWithParam<ServerKind> {};

INSTANTIATE_TEST_SUITE_P(Own, EachDatabaseServer, ::testing::Values(ServerKind::postgres, ServerKind::mariadb),
                         name_of_server);

TEST_P(EachDatabaseServer, KeepsCommittedRowsAfterACrashAndAfterAStop) {
  DatabaseServer server{GetParam()};
  const auto connect = [&] { return connect_plainly(GetParam(), server.port()); };
  EXPECT_TRUE(durable(GetParam(), server.port()));
  const int port = server.port();
  const auto sql = connect();
  sql->run("CREATE TABLE kept (n INT PRIMARY KEY)");
  sql->run("INSERT INTO kept VALUES (1)");
  sql->run("BEGIN");
  sql->run("INSERT INTO kept VALUES (2)");

  server.kill();
  EXPECT_THROW(sql->run("SELECT 1"), SqlError);
  EXPECT_THROW(connect(), SqlError);

  server.start();
  EXPECT_EQ(server.port(), port);
  EXPECT_EQ(connect()->run("SELECT sum(n) FROM kept"), "1");

  server.stop();
  EXPECT_THROW(connect(), SqlError);
  server.start();
  EXPECT_EQ(connect()->run("SELECT sum(n) FROM kept"), "1");
}

TEST(DatabaseServers, DoNotKnowEachOther) {
  const DatabaseServer one{ServerKind::postgres};
  const DatabaseServer other{ServerKind::postgres};
  EXPECT_NE(one.url(), other.url());
  connect_plainly(ServerKind::postgres, one.port())->run("CREATE TABLE mine (n INT)");
  EXPECT_THROW(connect_plainly(ServerKind::postgres, other.port())->run("SELECT * FROM mine"), SqlError);
}

class EachSharedServer : public ::testing::TestWithParam<ServerKind> {};

INSTANTIATE_TEST_SUITE_P(Shared, EachSharedServer, ::testing::Values(ServerKind::postgres, ServerKind::mariadb),
                         name_of_server);

TEST_P(EachSharedServer, DoesNotWaitForTheDisk) {
  EXPECT_FALSE(durable(GetParam(), shared_server_port(GetParam())));
}

}  // namespace
}  // namespace easyretry::test
