// A row that is corrupted or was edited manually affects no other task.

#include "support/endings.h"
#include "unit/storage/sqlite/support.h"

namespace easyretry::storage::sqlite {
namespace {

using ::testing::ElementsAre;

constexpr const char* kNonsense[] = {
    "status = 'BROKEN'", "status = ''",     "status = 42", "status = x'00ff'",
    "version = -1",      "version = 'new'", "version = 0", "status = 'RUNNING', lease_until = 9e18",
};

class SqliteBadRows : public SqliteTest {
 protected:
  SqliteBadRows() {
    SqliteOptions one_shard = options();
    one_shard.total_shards = 1;
    open(one_shard);
  }
  std::vector<TaskId> loaded() {
    const ShardCursor from{};
    std::vector<TaskId> ids;
    for (const DueTask& task : must(store().load({.name_space = "shop", .from = {&from, 1}, .ahead = 1h})).tasks) {
      ids.push_back(task.id);
    }
    return ids;
  }
  void edit(TaskId id, const std::string& set) {
    by_hand("UPDATE retry_state SET " + set + " WHERE id = " + to_string(id));
  }
};

TEST_F(SqliteBadRows, LoadPassesThemOver) {
  for (const char* nonsense : kNonsense) {
    const Inserted before = insert(a_task());
    const Inserted bad = insert(a_task());
    clock.advance(1ms);  // the ids of one millisecond may wrap around
    const Inserted after = insert(a_task());
    edit(bad.id, nonsense);
    EXPECT_THAT(loaded(), ElementsAre(before.id, after.id)) << nonsense;
    by_hand("DELETE FROM retry_state");
  }
}

TEST_F(SqliteBadRows, TheRestOfABatchIsClaimed) {
  const Inserted good = insert(a_task());
  const Inserted bad = insert(a_task());
  edit(bad.id, "status = 'BROKEN', version = -7");
  const std::vector<Ticket> tickets{{bad.id, bad.version}, {good.id, good.version}};
  const auto won = must(store().claim({.tickets = tickets, .owner = "worker", .lease = 30s})).won;
  ASSERT_EQ(won.size(), 1U);
  EXPECT_EQ(won[0].info.id, good.id);
}

TEST_F(SqliteBadRows, AreStillShown) {
  const Inserted bad = insert(a_task().key("odd"));
  edit(bad.id, "status = 'BROKEN', stage = 7, outcome = 'MAYBE', version = -1, attempt_count = 99999999999");
  by_hand("UPDATE retry_call SET params_json = NULL, created_at = 'once', business_id = x'fe'");
  const auto found = must(store().find({&bad.id, 1}));
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].info.key, "odd");
  EXPECT_EQ(found[0].info.version, -1);
  EXPECT_EQ(found[0].payload, "");
  EXPECT_EQ(must(store().list({.key = "odd"})).size(), 1U);
}

TEST_F(SqliteBadRows, ATaskWhoseCallIsGoneIsClaimedWithoutArgumentsAndCanEnd) {
  const Inserted task = insert(a_task());
  by_hand("DELETE FROM retry_call");
  const TaskRecord record = claim(task);
  EXPECT_EQ(record.payload, "");
  EXPECT_THAT(settle(record, Settlement::Kind::finish).applied, ElementsAre(true));
  EXPECT_EQ(must(store().find({&task.id, 1})).size(), 1U);
}

TEST_F(SqliteBadRows, AttemptsOfAnUnknownStageCountSoThatTheyEnd) {
  const Inserted odd = insert(a_task());
  edit(odd.id, "stage = 'DANCE'");
  const TaskRecord claimed = claim(odd);
  EXPECT_EQ(claimed.info.attempts, 1);
  EXPECT_THAT(settle(claimed, Settlement::Kind::hand_back).applied, ElementsAre(true));
  const TaskRecord back = must(store().find({&odd.id, 1})).at(0);
  EXPECT_EQ(back.info.attempts, 0);
  EXPECT_EQ(back.callback_attempts, 0);
}

TEST_F(SqliteBadRows, AnOrphanedCallBlocksNoTask) {
  by_hand(
      "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100) "
      "INSERT INTO retry_call (id, task_key, created_at, max_attempts) "
      "SELECT i, 'left over', 0, 1 FROM n");
  EXPECT_TRUE(insert(a_task().key("left over")).created);
  EXPECT_EQ(must(store().list({})).size(), 1U);
}

TEST_F(SqliteBadRows, CanBeCancelled) {
  const Inserted bad = insert(a_task());
  edit(bad.id, "status = 'BROKEN', version = -1");
  EXPECT_THAT(must(store().end(test::endings({&bad.id, 1}))).applied, ElementsAre(true));
  EXPECT_EQ(count(), 0);
  EXPECT_EQ(count(true), 1);
}

// NOT NULL prevents such an edit, but not a damaged page.
TEST_F(SqliteBadRows, NullsWhereNoneShouldBeArePassedOver) {
  close();
  by_hand(
      "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = replace(sql, ' NOT NULL', '') "
      "WHERE name = 'retry_state'");
  SqliteOptions one_shard = options();
  one_shard.total_shards = 1;
  open(one_shard);
  for (const char* column : {"status", "version"}) {
    const Inserted bad = insert(a_task());
    const Inserted good = insert(a_task());
    edit(bad.id, std::string{column} + " = NULL");
    EXPECT_THAT(loaded(), ElementsAre(good.id)) << column;
    EXPECT_EQ(must(store().find({&bad.id, 1})).size(), 1U);
    by_hand("DELETE FROM retry_state");
  }
}

}  // namespace
}  // namespace easyretry::storage::sqlite
