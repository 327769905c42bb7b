// Tasks in a transaction of the application.

#include <memory>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <libpq-fe.h>

#include <easyretry/submit.h>

#include "storage/open.h"
#include "support/task_builder.h"
#include "support/test_database.h"

namespace easyretry::storage::postgres {
namespace {

using test::a_task;
using test::ServerKind;
using test::TestDatabase;
using ::testing::HasSubstr;

class PostgresJoined : public ::testing::Test {
 protected:
  struct Finish {
    void operator()(PGconn* connection) const { PQfinish(connection); }
  };
  using Client = std::unique_ptr<PGconn, Finish>;

  static Client connect(const TestDatabase& to) { return Client{PQconnectdb((to.url() + "?sslmode=disable").c_str())}; }
  void run(const char* sql) {
    PGresult* result = PQexec(client.get(), sql);
    const ExecStatusType status = PQresultStatus(result);
    const std::string error = PQresultErrorMessage(result);
    PQclear(result);
    ASSERT_TRUE(status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK) << error;
  }
  Result<InsertReply> insert(const NewTask& task) {
    return store->insert_within(postgres_tx(client.get()), {&task, 1});
  }
  // The rows, which must be as many as the store has counted.
  std::int64_t count() {
    const std::int64_t rows = store->count({}).value();
    EXPECT_EQ(store->counts(test::kNamespace).value()["pay"].live(), rows);
    return rows;
  }

  const TestDatabase database{ServerKind::postgres};
  const std::unique_ptr<Store> store = open_store(database.url() + "?sslmode=disable", system_clock());
  const Client client = connect(database);
};

TEST_F(PostgresJoined, ATaskComesWithTheCommit) {
  run("CREATE TABLE orders (id int)");
  run("BEGIN");
  run("INSERT INTO orders VALUES (1)");
  const auto reply = insert(a_task());
  ASSERT_TRUE(reply) << reply.error().detail;
  EXPECT_TRUE(reply->tasks.at(0).created);
  EXPECT_EQ(count(), 0) << "no other transaction sees it before";
  run("COMMIT");
  EXPECT_EQ(count(), 1);
}

TEST_F(PostgresJoined, ATaskGoesWithTheRollback) {
  run("BEGIN");
  ASSERT_TRUE(insert(a_task()));
  run("ROLLBACK");
  EXPECT_EQ(count(), 0);
}

TEST_F(PostgresJoined, ABatchThatIsRefusedLeavesTheTransactionAsItWas) {
  const NewTask task = a_task();
  ASSERT_TRUE(store->insert({&task, 1}));
  NewTask again = task;
  again.on_duplicate = OnDuplicate::reject;
  run("BEGIN");
  const auto refused = insert(again);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::already_exists);
  ASSERT_TRUE(insert(a_task())) << "the transaction goes on";
  run("COMMIT");
  EXPECT_EQ(count(), 2);
}

TEST_F(PostgresJoined, ALargeBatchThatMeetsALiveKeyDoesNotFailTheTransaction) {
  const NewTask there = a_task();
  ASSERT_TRUE(store->insert({&there, 1}));
  std::vector<NewTask> batch;
  for (int i = 0; i < 300; ++i) batch.push_back(a_task());
  batch[123].key = there.key;
  run("BEGIN");
  const auto reply = store->insert_within(postgres_tx(client.get()), batch);
  ASSERT_TRUE(reply) << reply.error().detail;
  EXPECT_FALSE(reply->tasks.at(123).created);
  run("COMMIT");
  EXPECT_EQ(count(), 300);
}

TEST_F(PostgresJoined, SeveralBatchesMayJoinOneTransaction) {
  run("BEGIN");
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(insert(a_task()));
  run("COMMIT");
  EXPECT_EQ(count(), 3);
}

TEST_F(PostgresJoined, LastvalIsStillTheNumberThatTheApplicationDrew) {
  run("CREATE SEQUENCE orders");
  run("BEGIN; SELECT nextval('orders')");
  ASSERT_TRUE(insert(a_task()));
  run("DO $$ BEGIN ASSERT lastval() = 1 AND lastval() = currval('orders'); END $$");
  run("COMMIT");
}

TEST_F(PostgresJoined, AConnectionOutsideATransactionIsRefusedWithTheRemedy) {
  const auto refused = insert(a_task());
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::invalid_argument);
  EXPECT_THAT(refused.error().detail, HasSubstr("BEGIN"));
  EXPECT_EQ(refused.error().where, "postgres.insert");
}

TEST_F(PostgresJoined, AConnectionToAnotherDatabaseIsRefused) {
  const TestDatabase elsewhere{ServerKind::postgres};
  const Client other = connect(elsewhere);
  PQclear(PQexec(other.get(), "BEGIN"));
  const NewTask task = a_task();
  const auto refused = store->insert_within(postgres_tx(other.get()), {&task, 1});
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().detail, HasSubstr("another database"));
  EXPECT_EQ(PQtransactionStatus(other.get()), PQTRANS_INTRANS) << "left as it was";
}

TEST_F(PostgresJoined, AnotherKindOfTransactionIsRefused) {
  const NewTask task = a_task();
  const auto refused = store->insert_within(sqlite_tx(nullptr), {&task, 1});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::invalid_argument);
}

}  // namespace
}  // namespace easyretry::storage::postgres
