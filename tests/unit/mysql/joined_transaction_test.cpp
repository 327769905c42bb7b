// Tasks in the caller's own transaction.

#include <mysql.h>

#include <easyretry/submit.h>

#include "storage/open.h"
#include "support/eventually.h"
#include "unit/mysql/support.h"

namespace easyretry::storage::mysql {
namespace {

using test::ServerKind;
using test::TestDatabase;

struct Close {
  void operator()(MYSQL* connection) const { mysql_close(connection); }
};
using Client = std::unique_ptr<MYSQL, Close>;

// A connection like an application's: one statement at a time, REPEATABLE READ.
Client connect_to(const std::string& database, const char* character_set = "utf8mb4") {
  Client client{mysql_init(nullptr)};
  mysql_optionsv(client.get(), MYSQL_SET_CHARSET_NAME, character_set);
  const char* chosen = database.empty() ? nullptr : database.c_str();
  EXPECT_NE(mysql_real_connect(client.get(), "127.0.0.1", "easyretry", "secret", chosen,
                               static_cast<unsigned>(test::shared_server_port(ServerKind::mariadb)), nullptr, 0),
            nullptr);
  return client;
}

// The rows, one per line.
std::string run(const Client& client, const std::string& statement) {
  if (mysql_query(client.get(), statement.c_str()) != 0) return mysql_error(client.get());
  const std::unique_ptr<MYSQL_RES, decltype(&mysql_free_result)> rows{mysql_store_result(client.get()),
                                                                      mysql_free_result};
  std::string text;
  while (const MYSQL_ROW row = rows ? mysql_fetch_row(rows.get()) : nullptr) {
    for (unsigned i = 0; i < mysql_num_fields(rows.get()); ++i)
      text.append(row[i] == nullptr ? "" : row[i]).append(" ");
    text.append("\n");
  }
  return text;
}

class MysqlJoined : public ::testing::Test {
 protected:
  void run(const std::string& statement) { ASSERT_EQ(mysql::run(client, statement), ""); }
  Result<InsertReply> insert(const Client& theirs, const NewTask& task) {
    return store->insert_within(mysql_tx(theirs.get()), {&task, 1});
  }
  Result<InsertReply> insert(const NewTask& task) { return insert(client, task); }
  void expect_refused(const Client& theirs, const std::string& why) {
    const auto refused = insert(theirs, a_task());
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Errc::invalid_argument);
    EXPECT_EQ(refused.error().where, "mysql.insert");
    EXPECT_THAT(refused.error().detail, HasSubstr(why));
    EXPECT_EQ(count(), 0);
  }
  // Counted row by row, and compared with the sums that the store writes with each transaction.
  std::int64_t count() {
    const std::int64_t rows = store->count({}).value();
    EXPECT_EQ(store->counts(test::kNamespace).value()["pay"].live(), rows);
    return rows;
  }

  const TestDatabase database{ServerKind::mariadb};
  const std::unique_ptr<Store> store = open_store(database.url(), system_clock());
  const Client client = connect_to(database.name());
};

TEST_F(MysqlJoined, ATaskComesWithTheCommit) {
  run("CREATE TABLE orders (id int)");
  run("BEGIN");
  run("INSERT INTO orders VALUES (1)");
  const auto reply = insert(a_task());
  ASSERT_TRUE(reply) << reply.error().detail;
  EXPECT_TRUE(reply->tasks.at(0).created);
  EXPECT_EQ(count(), 0) << "it is invisible before";
  run("COMMIT");
  EXPECT_EQ(count(), 1);
}

// Also the first task of a month, for which a history table is created: on this connection, that would commit.
TEST_F(MysqlJoined, ARollbackDropsTheTaskAndTheWorkBeforeIt) {
  run("CREATE TABLE orders (id int)");
  EXPECT_EQ(mysql::run(client, "SHOW TABLES LIKE 'retry_task_history%'"), "");
  run("BEGIN");
  run("INSERT INTO orders VALUES (1)");
  ASSERT_TRUE(insert(a_task()));
  run("ROLLBACK");
  EXPECT_EQ(count(), 0);
  EXPECT_EQ(mysql::run(client, "SELECT * FROM orders"), "");
  EXPECT_NE(mysql::run(client, "SHOW TABLES LIKE 'retry_task_history%'"), "");
}

TEST_F(MysqlJoined, ABatchThatIsRefusedLeavesTheTransactionAsItWas) {
  const NewTask task = a_task();
  ASSERT_TRUE(store->insert({&task, 1}));
  std::vector<NewTask> batch{a_task(), task};
  batch[1].on_duplicate = OnDuplicate::reject;
  run("BEGIN");
  ASSERT_TRUE(insert(a_task()));
  const auto refused = store->insert_within(mysql_tx(client.get()), batch);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::already_exists);
  ASSERT_TRUE(insert(a_task())) << "the transaction goes on";
  run("COMMIT");
  EXPECT_EQ(count(), 3) << "nothing of the batch";
}

TEST_F(MysqlJoined, SeveralBatchesMayJoinOneTransaction) {
  run("BEGIN");
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(insert(a_task()));
  run("COMMIT");
  EXPECT_EQ(count(), 3);
}

// From its first read on, the transaction sees a snapshot without the key.
TEST_F(MysqlJoined, AKeyStoredAfterTheTransactionLookedFirstIsMet) {
  const NewTask earlier = a_task();
  ASSERT_TRUE(store->insert({&earlier, 1})) << "and this month's history is there";
  run("BEGIN");
  EXPECT_EQ(mysql::run(client, "SELECT count(*) FROM retry_task"), "1 \n");
  const NewTask task = a_task();
  const auto theirs = store->insert({&task, 1}).value();
  const auto mine = insert(task);
  ASSERT_TRUE(mine) << mine.error().detail;
  EXPECT_FALSE(mine->tasks.at(0).created);
  EXPECT_EQ(mine->tasks.at(0).id, theirs.tasks.at(0).id);
  run("COMMIT");
}

TEST_F(MysqlJoined, QuotesAndBackslashesAreKept) {
  const std::string key = "it's \\' \"quoted\"; -- \xF0\x9F\x98\x80 \\";
  run("BEGIN");
  ASSERT_TRUE(insert(a_task().key(key).payload(std::string{"\0\x1a\n'\\", 5})));
  run("COMMIT");
  const auto there = store->list({.key = key}).value();
  ASSERT_EQ(there.size(), 1U);
  EXPECT_EQ(there[0].payload, (std::string{"\0\x1a\n'\\", 5}));
}

TEST_F(MysqlJoined, WithoutAutocommitEveryStatementIsInsideATransaction) {
  run("SET autocommit = 0");
  ASSERT_TRUE(insert(a_task()));
  EXPECT_EQ(count(), 0);
  run("COMMIT");
  EXPECT_EQ(count(), 1);
}

TEST_F(MysqlJoined, LeavesTheSettingsOfTheConnectionAsTheyWere) {
  const std::string settings =
      "SELECT variable_name, variable_value FROM information_schema.session_variables WHERE variable_name NOT IN "
      "('TIMESTAMP', 'INSERT_ID', 'LAST_INSERT_ID', 'LAST_GTID', 'RAND_SEED1', 'RAND_SEED2') ORDER BY 1";
  run("BEGIN");
  const std::string before = mysql::run(client, settings);
  EXPECT_THAT(before, HasSubstr("SQL_MODE"));
  ASSERT_TRUE(insert(a_task()));
  EXPECT_EQ(mysql::run(client, settings), before);
  run("COMMIT");
}

TEST_F(MysqlJoined, AConnectionOutsideATransactionIsRefusedWithTheRemedy) {
  expect_refused(client, "run BEGIN on it first");
}

// The client library does not notice: it still reports that the connection is in a transaction.
TEST_F(MysqlJoined, AConnectionWhoseTransactionADeadlockEndedIsRefused) {
  const Client other = connect_to(database.name());
  run("CREATE TABLE orders (id int PRIMARY KEY, state int)");
  run("INSERT INTO orders VALUES (1, 0), (2, 0), (3, 0)");
  mysql::run(other, "BEGIN");
  mysql::run(other, "UPDATE orders SET state = 1 WHERE id IN (2, 3)");
  run("BEGIN");
  run("UPDATE orders SET state = 2 WHERE id = 1");
  std::thread blocked{[&] { mysql::run(other, "UPDATE orders SET state = 1 WHERE id = 1"); }};
  const Client looking = connect_to(database.name());
  EXPECT_TRUE(test::eventually([&] {
    return mysql::run(looking, "SELECT 1 FROM information_schema.processlist WHERE state = 'Updating' AND db = '" +
                                   database.name() + "'") == "1 \n";
  }));
  EXPECT_THAT(mysql::run(client, "UPDATE orders SET state = 2 WHERE id = 2"), HasSubstr("Deadlock"));
  blocked.join();
  expect_refused(client, "run BEGIN on it first");
  mysql::run(other, "ROLLBACK");
}

TEST_F(MysqlJoined, AConnectionToAnotherDatabaseIsRefused) {
  const TestDatabase elsewhere{ServerKind::mariadb};
  for (const std::string& name : {elsewhere.name(), std::string{}}) {
    const Client other = connect_to(name);
    mysql::run(other, "BEGIN");
    expect_refused(other, "another database");
    EXPECT_NE(other->server_status & SERVER_STATUS_IN_TRANS, 0U) << "left as it was";
  }
}

TEST_F(MysqlJoined, AnotherCharacterSetIsRefusedWithTheRemedy) {
  for (const char* name : {"latin1", "gbk", "utf8mb3"}) {
    const Client other = connect_to(database.name(), name);
    mysql::run(other, "BEGIN");
    expect_refused(other, "mysql_set_character_set(connection, \"utf8mb4\")");
  }
}

TEST_F(MysqlJoined, AModeInWhichABackslashStandsForItselfIsRefused) {
  run("SET sql_mode = 'NO_BACKSLASH_ESCAPES'");
  run("BEGIN");
  expect_refused(client, "NO_BACKSLASH_ESCAPES");
}

TEST_F(MysqlJoined, AnotherKindOfTransactionAndNoConnectionAreRefused) {
  const NewTask task = a_task();
  for (const Transaction& wrong : {sqlite_tx(nullptr), postgres_tx(nullptr), mysql_tx(nullptr)}) {
    const auto refused = store->insert_within(wrong, {&task, 1});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Errc::invalid_argument);
  }
}

}  // namespace
}  // namespace easyretry::storage::mysql
