// Servers that a test has for itself, to kill or disconnect them, and TLS.

#include <pwd.h>
#include <unistd.h>

#include "storage/mysql/connection.h"
#include "storage/mysql/session.h"
#include "support/cutting_proxy.h"
#include "support/eventually.h"
#include "unit/mysql/support.h"

namespace easyretry::storage::mysql {
namespace {

using test::CuttingProxy;
using test::DatabaseServer;
using test::ServerKind;

TEST(MysqlServer, AKilledServerIsGoneAndCommittedRowsSurviveARestart) {
  DatabaseServer server{ServerKind::mariadb};
  const auto session = connect_mysql(address_at(server.port()));
  EXPECT_EQ(session->schema().durability().words, "a power cut on the server's machine");
  session->schema().create_tasks(kTable, sql::UniqueKeys::in_task_table);
  const TaskRecord kept = task::new_record(a_task(), TaskId{1}, kMarch);
  const TaskRecord lost = task::new_record(a_task(), TaskId{2}, kMarch);
  session->begin(Promise::kept);
  session->insert(kTable, {}, {&kept, 1});
  session->commit();
  session->begin(Promise::kept);
  session->insert(kTable, {}, {&lost, 1});
  server.kill();
  EXPECT_EQ(trouble([&] { session->commit(); }).first, Trouble::gone);
  EXPECT_TRUE(session->broken());
  session->roll_back();
  EXPECT_EQ(trouble([&] { session->now(); }).first, Trouble::gone);
  server.start();
  const auto again = connect_mysql(address_at(server.port()));
  EXPECT_EQ(again->count({TaskQuery{}, kTable, false}), 1);
}

// Through the socket, where the user who created the server may do everything.
MysqlAddress administrator_of(const DatabaseServer& server) {
  MysqlAddress one = address_at(0);
  one.socket = server.ca_certificate().parent_path().parent_path() / "data/mariadb.sock";
  one.user = ::getpwuid(::geteuid())->pw_name;
  one.password = {};
  return one;
}

TEST(MysqlServer, AReplicaIsRefusedAndASessionThatLearnsOfItLaterSaysSo) {
  DatabaseServer server{ServerKind::mariadb};
  const auto session = connect_mysql(address_at(server.port()));
  Connection administrator{administrator_of(server)};
  administrator.run("SET GLOBAL read_only = 1");
  const auto at_once = trouble([&] { connect_mysql(address_at(server.port())); });
  const auto later = trouble([&] { session->begin(Promise::kept); });
  for (const auto& [what, why] : {at_once, later}) {
    EXPECT_EQ(what, Trouble::overloaded);
    EXPECT_THAT(why, HasSubstr("read-only"));
    EXPECT_THAT(why, HasSubstr("connect to the primary"));
  }
  session->roll_back();
  administrator.run("SET GLOBAL read_only = 0");
  session->begin(Promise::kept);
  session->commit();
}

TEST(MysqlServer, DurabilityFollowsTheSettings) {
  DatabaseServer server{ServerKind::mariadb};
  Connection administrator{administrator_of(server)};
  const auto with = [&](const std::string& flush) {
    administrator.run("SET GLOBAL innodb_flush_log_at_trx_commit = " + flush);
    return MysqlSchema{administrator}.durability();
  };
  EXPECT_EQ(with("1").words, "a power cut on the server's machine");
  EXPECT_EQ(with("2").words,
            "a crash of the server process; innodb_flush_log_at_trx_commit=2, so a power cut may lose the last second");
  EXPECT_FALSE(with("2").worth_a_warning);
  EXPECT_THAT(with("0").words, HasSubstr("nothing for sure; innodb_flush_log_at_trx_commit=0"));
  EXPECT_TRUE(with("0").worth_a_warning);
}

TEST(MysqlServer, WithoutRightsToTheTablesItIsRefusedWithTheGrantToMake) {
  DatabaseServer server{ServerKind::mariadb};
  Connection administrator{administrator_of(server)};
  administrator.run("CREATE USER reader@'%' IDENTIFIED BY 'secret'; GRANT SELECT ON easyretry.* TO reader@'%'");
  MysqlAddress reader = address_at(server.port());
  reader.user = "reader";
  const auto session = connect_mysql(reader);
  const auto [what, why] = trouble([&] { session->schema().create_tasks(kTable, sql::UniqueKeys::in_task_table); });
  EXPECT_EQ(what, Trouble::refused);
  EXPECT_THAT(why, HasSubstr("GRANT SELECT, INSERT, UPDATE, DELETE, CREATE"));
}

TEST(MysqlServer, InADatabaseOfAnotherCharacterSetTablesAreUtf8mb4) {
  const test::TestDatabase database{ServerKind::mariadb};
  const auto by_hand = [&](const std::string& statement) {
    return test::connect_plainly(ServerKind::mariadb, test::shared_server_port(ServerKind::mariadb), database.name())
        ->run(statement);
  };
  by_hand("ALTER DATABASE " + database.name() + " CHARACTER SET latin1");
  const auto session = connect_mysql(address_at(test::shared_server_port(ServerKind::mariadb), database.name()));
  sql::migrate(session->schema(), session->schema().version());
  session->schema().create_tasks(kTable, sql::UniqueKeys::in_task_table);
  session->schema().create_history(kHistory);
  EXPECT_EQ(by_hand("SELECT GROUP_CONCAT(DISTINCT table_collation) FROM information_schema.tables WHERE table_schema = "
                    "DATABASE()"),
            "utf8mb4_bin");
  TaskRecord record = task::new_record(a_task(), TaskId{1}, kMarch);
  record.info.tags = {"😀"};
  record.info.last_error = "日本語 😀";
  session->begin(Promise::kept);
  session->insert(kTable, {}, {&record, 1});
  session->commit();
  const TaskRecord stored = session->find(kTable, false, {&record.info.id, 1}).at(0);
  EXPECT_EQ(stored.info.tags, record.info.tags);
  EXPECT_EQ(stored.info.last_error, record.info.last_error);
}

TEST(MysqlServer, AnOldOneIsRefusedByItsName) {
  check_version(true, 100600);
  check_version(false, 80013);
  EXPECT_EQ(trouble([] { check_version(true, 100521); }),
            (std::pair{Trouble::refused,
                       std::string{"the server is MariaDB 10.5.21; EasyRetry needs MariaDB 10.6.0 or newer"}}));
  EXPECT_THAT(trouble([] { check_version(false, 80012); }).second,
              HasSubstr("MySQL 8.0.12; EasyRetry needs MySQL 8.0.13"));
}

TEST(MysqlServer, TidbIsRefusedByItsNameAndNotTakenForAnOldMysql) {
  for (const char* version : {"8.0.11-TiDB-v7.5.1", "5.7.25-TiDB-v6.1.0", "8.0.40-TiDB-v9.0.0-beta.2"}) {
    const auto [what, why] = trouble([&] { check_product(version); });
    EXPECT_EQ(what, Trouble::refused);
    EXPECT_THAT(why, HasSubstr("the server is TiDB (" + std::string{version} + "), which EasyRetry does not support"));
    EXPECT_THAT(why, HasSubstr("it has no SKIP LOCKED"));
    EXPECT_THAT(why, HasSubstr("use MySQL 8.0.13, MariaDB 10.6.0, a newer one, or PostgreSQL"));
  }
  for (const char* version : {"8.0.33", "8.4.2-2ubuntu1", "10.11.6-MariaDB-0+deb12u1", ""}) check_product(version);
}

TEST(MysqlServer, IsWritableWhetherItsVersionSaysSoByANumberOrAWord) {
  for (const char* value : {"0", "OFF"}) EXPECT_TRUE(is_writable(value)) << value;
  for (const char* value : {"1", "ON", "NO_LOCK", "NO_LOCK_NO_ADMIN", ""}) EXPECT_FALSE(is_writable(value)) << value;
}

class MysqlNetwork : public MysqlTest {
 protected:
  std::unique_ptr<sql::Session> through_proxy(MysqlAddress address) {
    address.port = proxy.port();
    return connect_mysql(address);
  }
  CuttingProxy proxy{address().port};
};

TEST_F(MysqlNetwork, ACutConnectionIsGoneInTheMiddleOfAStatement) {
  const auto mine = through_proxy(address());
  const TaskRecord record = row(a_task());
  mine->begin(Promise::kept);
  proxy.lose_reply_to("INSERT INTO retry_task");
  EXPECT_EQ(trouble([&] { mine->insert(kTable, {}, {&record, 1}); }).first, Trouble::gone);
  EXPECT_TRUE(mine->broken());
  EXPECT_THAT(live(record.info.id), IsEmpty());
}

TEST_F(MysqlNetwork, ALostReplyToACommitLeavesItInDoubtAndIsReportedAsGone) {
  const auto mine = through_proxy(address());
  const TaskRecord record = row(a_task());
  mine->begin(Promise::kept);
  mine->insert(kTable, {}, {&record, 1});
  proxy.lose_reply_to("COMMIT");
  EXPECT_EQ(trouble([&] { mine->commit(); }).first, Trouble::gone);
  EXPECT_TRUE(mine->broken());
  EXPECT_EQ(live(record.info.id).size(), 1U);
}

TEST_F(MysqlNetwork, AServerThatSaysNothingIsGivenUpAfterTheTimeout) {
  MysqlAddress hasty = address();
  hasty.connect_timeout = hasty.patience = 1s;
  const auto mine = through_proxy(hasty);
  const auto committing = through_proxy(hasty);
  committing->begin(Promise::kept);
  proxy.freeze();
  EXPECT_EQ(trouble([&] { mine->now(); }).first, Trouble::silent);
  EXPECT_TRUE(mine->broken());
  EXPECT_EQ(trouble([&] { committing->commit(); }).first, Trouble::silent);
  EXPECT_TRUE(committing->broken());
  EXPECT_EQ(trouble([&] { through_proxy(hasty); }).first, Trouble::gone);
  proxy.thaw();
  EXPECT_GT(through_proxy(hasty)->now(), kMarch);
}

TEST_F(MysqlNetwork, LocksOfACutOffSessionAreSoonFree) {
  MysqlAddress hasty = address();
  hasty.idle_transaction_timeout = 1s;
  const auto mine = through_proxy(hasty);
  const TaskRecord record = inserted(a_task());
  mine->begin(Promise::kept);
  mine->hold(kTable, {&record.info.id, 1});
  proxy.freeze();
  EXPECT_THAT(claim(*session, {ticket_of(record)}), IsEmpty()) << "held by the one that is cut off";
  EXPECT_TRUE(test::eventually([&] { return claim(*session, {ticket_of(record)}).size() == 1; }));
}

TEST_F(MysqlNetwork, AConnectionThatIsKilledIsGone) {
  const auto mine = connect();
  session.reset();
  by_hand("KILL " + by_hand("SELECT id FROM information_schema.processlist WHERE db = DATABASE() AND "
                            "id <> CONNECTION_ID()"));
  EXPECT_EQ(trouble([&] { mine->now(); }).first, Trouble::gone);
  EXPECT_TRUE(mine->broken());
}

// The same machine, by a name that is not in its certificate.
constexpr const char* kAnotherName = "127.1";

class MysqlTls : public MysqlNetwork {
 protected:
  // A server with a certificate for 127.0.0.1 and localhost.
  MysqlAddress tls(Tls how, const std::string& host = "127.0.0.1") const {
    MysqlAddress one = address();
    one.host = host;
    one.tls = how;
    one.ca = test::shared_server_ca(ServerKind::mariadb);
    return one;
  }
  static std::string cipher(const MysqlAddress& address) {
    return Connection{address}.ask(
        "SELECT variable_value FROM information_schema.session_status "
        "WHERE variable_name = 'Ssl_cipher'");
  }
};

TEST_F(MysqlTls, IsUsedExactlyWhenAskedFor) {
  EXPECT_EQ(cipher(tls(Tls::off)), "");
  for (const Tls how : {Tls::on, Tls::verify_ca, Tls::verify_full}) EXPECT_NE(cipher(tls(how)), "");
}

TEST_F(MysqlTls, AnotherNameIsBelievedByAllButVerifyFull) {
  EXPECT_NE(cipher(tls(Tls::verify_full, "localhost")), "");
  EXPECT_NE(cipher(tls(Tls::on, kAnotherName)), "");
  EXPECT_NE(cipher(tls(Tls::verify_ca, kAnotherName)), "");
  EXPECT_EQ(trouble([&] { connect_mysql(tls(Tls::verify_full, kAnotherName)); }).first, Trouble::refused);
}

TEST_F(MysqlTls, AnotherAuthorityIsBelievedOnlyByTheModeThatVerifiesNothing) {
  const DatabaseServer other{ServerKind::mariadb};
  for (const Tls how : {Tls::on, Tls::verify_ca, Tls::verify_full}) {
    MysqlAddress one = tls(how);
    one.ca = other.ca_certificate();
    if (how == Tls::on) {
      EXPECT_NE(cipher(one), "");
    } else {
      EXPECT_EQ(trouble([&] { connect_mysql(one); }).first, Trouble::refused);
    }
  }
}

TEST_F(MysqlTls, WithoutACertificateToVerifyByNothingIsBelieved) {
  for (const Tls how : {Tls::verify_ca, Tls::verify_full}) {
    MysqlAddress one = tls(how);
    one.ca.clear();
    EXPECT_EQ(trouble([&] { connect_mysql(one); }).first, Trouble::refused);
  }
}

TEST_F(MysqlTls, ACutIsGoneAndDoesNotEndTheProcess) {
  const auto mine = through_proxy(tls(Tls::verify_full));
  proxy.cut_all();
  for (int i = 0; i < 3; ++i) EXPECT_EQ(trouble([&] { mine->now(); }).first, Trouble::gone);
  EXPECT_TRUE(mine->broken());
}

}  // namespace
}  // namespace easyretry::storage::mysql
