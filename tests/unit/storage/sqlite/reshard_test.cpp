// Another number of shards for a SQLite file that no engine has open.

#include <map>
#include <set>

#include "conformance/record_text.h"
#include "storage/open.h"
#include "support/endings.h"
#include "support/refusal.h"
#include "unit/storage/sqlite/support.h"

namespace easyretry::storage::sqlite {
namespace {

using ::testing::AllOf;

class SqliteReshard : public SqliteTest {
 protected:
  SqliteOptions with(int shards) const {
    SqliteOptions wanted = options();
    wanted.total_shards = shards;
    return wanted;
  }
  ReshardPlan reshard(int shards) { return reshard_sqlite(options(), {.shards = shards}); }
  std::string refusal_of(int shards) {
    return test::refusal<std::exception>([&] { reshard(shards); });
  }
  std::string number() {
    return Connection{file(), Connection::Mode::read}.text("SELECT value FROM retry_meta WHERE name = 'total_shards'");
  }
  void insert_many(int count) {
    std::vector<NewTask> tasks;
    for (int i = 0; i < count; ++i) tasks.push_back(a_task());
    must(store().insert(tasks));
  }
  std::map<TaskId, std::string> records() {
    std::map<TaskId, std::string> texts;
    for (const bool finished : {false, true}) {
      TaskQuery query;
      query.limit = 100'000;
      query.finished = finished;
      for (const TaskRecord& record : must(store().list(query))) texts[record.info.id] = test::record_text(record);
    }
    return texts;
  }
  std::multiset<TaskId> due() {
    std::vector<ShardCursor> all;
    const int shards = store().info().total_shards;
    for (int shard = 0; shard < shards; ++shard) all.push_back({.shard = ShardId{static_cast<std::uint16_t>(shard)}});
    std::multiset<TaskId> ids;
    const LoadReply reply = must(store().load({.name_space = test::kNamespace, .from = all}));
    for (const DueTask& task : reply.tasks) ids.insert(task.id);
    return ids;
  }
  std::int64_t misnumbered(int shards) {
    return ask("SELECT count(*) FROM retry_state WHERE shard <> ((id >> 10) & 4095) % " + std::to_string(shards));
  }
  void store_every_state() {
    insert_many(150);
    for (int i = 0; i < 20; ++i) {
      insert(a_task().due_in(1h));
      finish(a_task());
      claim(insert(a_task()));
      const TaskId told = insert(a_task()).id;
      must(store().end(test::endings({&told, 1}, {.tell = true})));
    }
    clock.advance(1min);
  }
};

TEST_F(SqliteReshard, AnyNumberKeepsEveryTaskAsItIsAndFound) {
  open();
  store_every_state();
  const auto before = records();
  const auto due_before = due();
  close();
  for (const int shards : {7, 128, 1, 4096, 64}) {
    SCOPED_TRACE(shards);
    reshard(shards);
    EXPECT_EQ(misnumbered(shards), 0);
    open(with(shards));
    EXPECT_TRUE(records() == before);
    EXPECT_EQ(due(), due_before);
    for (const auto& [id, text] : before) {
      const TaskRecord record = must(store().find({&id, 1})).at(0);
      if (record.info.state == TaskState::finished) continue;
      EXPECT_EQ(insert(a_task().key(record.info.key)).id, id);
    }
    close();
  }
}

TEST_F(SqliteReshard, ALeaseOfAnEngineThatDiedIsNoObstacle) {
  open();
  claim(insert(a_task()));
  close();
  EXPECT_EQ(refusal_of(16), "accepted");
}

TEST_F(SqliteReshard, IsRefusedWhileAnEngineHasTheFile) {
  open();
  EXPECT_THAT(refusal_of(16), HasSubstr("is in use by this process"));
  close();
  EXPECT_EQ(number(), "64");
}

TEST_F(SqliteReshard, APlanChangesNothing) {
  open();
  insert_many(100);
  close();
  const ReshardPlan plan = reshard_sqlite(options(), {.shards = 16, .only_plan = true});
  EXPECT_EQ(plan.rows, 100);
  EXPECT_GT(plan.misnumbered, 0);
  EXPECT_EQ(number(), "64");
  EXPECT_EQ(misnumbered(64), 0);
}

TEST_F(SqliteReshard, TheSameNumberChangesNothing) {
  open();
  close();
  EXPECT_TRUE(reshard(64).nothing_to_do());
}

TEST_F(SqliteReshard, ANumberThatCannotBeIsRefused) {
  open();
  close();
  for (const int shards : {0, -1, 4097}) EXPECT_THAT(refusal_of(shards), HasSubstr("1 to 4096"));
}

TEST_F(SqliteReshard, InterruptedBetweenTransactionsContinuesAndCannotBeOpenedMeanwhile) {
  open();
  for (int i = 0; i < 3; ++i) insert_many(1500);
  const auto before = records();
  close();
  struct Stopped {};
  EXPECT_THROW(reshard_sqlite(options(), {.shards = 16, .progress = [](const ReshardProgress&) { throw Stopped{}; }}),
               Stopped);
  EXPECT_EQ(number(), "64>16");
  EXPECT_GT(misnumbered(16), 0);
  for (const int shards : {64, 16}) {
    EXPECT_THAT(refusal(with(shards)), AllOf(HasSubstr("from 64 to 16"), HasSubstr("--shards 16")));
  }
  EXPECT_THAT(refusal_of(32), HasSubstr("a change to 16 shards has begun"));
  EXPECT_TRUE(reshard(16).begun);
  EXPECT_EQ(misnumbered(16), 0);
  open(with(16));
  EXPECT_TRUE(records() == before);
}

TEST_F(SqliteReshard, AMissingFileIsReportedAndNotCreated) {
  EXPECT_THAT(refusal_of(16), HasSubstr("there is no EasyRetry store"));
  EXPECT_FALSE(stored_settings("sqlite:" + file().string()));
  EXPECT_TRUE(std::filesystem::is_empty(file().parent_path()));
}

TEST_F(SqliteReshard, AnotherApplicationsDatabaseIsLeftAlone) {
  by_hand("CREATE TABLE invoices (id INTEGER)");
  EXPECT_THAT(refusal_of(16), HasSubstr("another application"));
}

TEST_F(SqliteReshard, TasksBesideAnApplicationsTablesAreRenumberedToo) {
  by_hand("CREATE TABLE invoices (id INTEGER)");
  SqliteOptions shared = options();
  shared.shared = true;
  open(shared);
  insert_many(50);
  close();
  EXPECT_GT(reshard_sqlite(shared, {.shards = 4}).misnumbered, 0);
  EXPECT_EQ(misnumbered(4), 0);
}

}  // namespace
}  // namespace easyretry::storage::sqlite
