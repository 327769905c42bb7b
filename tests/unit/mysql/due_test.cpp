#include "unit/mysql/support.h"

namespace easyretry::storage::mysql {
namespace {

std::vector<TaskId> ids_of(const std::vector<sql::DueRow>& rows) {
  std::vector<TaskId> ids;
  for (const sql::DueRow& row : rows) ids.push_back(row.ticket.id);
  return ids;
}

class MysqlDue : public MysqlTest {
 protected:
  std::vector<sql::DueRow> due(const std::vector<ShardCursor>& from, TimePoint until, std::size_t limit = 100,
                               TimePoint now = kMarch) {
    return session->due(kTable, {"shop", from, now, until, limit});
  }
  std::vector<TaskId> due_ids(TimePoint until, TimePoint now = kMarch) {
    return ids_of(due({{ShardId{3}}}, until, 100, now));
  }
};

TEST_F(MysqlDue, ReturnsDueTasksInOrder) {
  const TaskRecord second = inserted(a_task().due_in(2s).handler("refund"));
  const TaskRecord first = inserted(a_task().due_in(1s));
  inserted(a_task().due_in(3001ms));
  inserted(a_task().due_in(1s).name_space("bank"));
  inserted(a_task().due_in(1s), ShardId{4});
  const auto rows = due({{ShardId{3}}}, kMarch + 3s);
  ASSERT_EQ(ids_of(rows), (std::vector{first.info.id, second.info.id}));
  EXPECT_EQ(rows[1].handler, "refund");
  EXPECT_EQ(rows[1].next_at, kMarch + 2s);
  EXPECT_EQ(rows[1].ticket.version, 1);
  EXPECT_EQ(rows[1].shard, ShardId{3});
}

TEST_F(MysqlDue, ContinuesAfterTheCursorAlsoWithinOneMillisecond) {
  std::vector<TaskId> stored;
  for (int i = 0; i < 10; ++i) stored.push_back(inserted(a_task().due_in(Millis{i / 5})).info.id);
  std::vector<TaskId> seen;
  ShardCursor cursor{ShardId{3}};
  for (auto page = due({cursor}, kMarch + 1s, 3); !page.empty(); page = due({cursor}, kMarch + 1s, 3)) {
    EXPECT_LE(page.size(), 3U);
    for (const TaskId id : ids_of(page)) seen.push_back(id);
    cursor = {ShardId{3}, page.back().next_at, page.back().ticket.id};
  }
  EXPECT_EQ(seen, stored);
}

TEST_F(MysqlDue, ACursorBehindTheEndFindsNothing) {
  inserted(a_task().due_in(1s));
  EXPECT_THAT(due({{ShardId{3}, kMarch + 1h, TaskId{1}}}, kMarch + 2s), IsEmpty());
}

TEST_F(MysqlDue, TheLimitIsForEachShard) {
  for (std::uint16_t shard = 0; shard < 3; ++shard) {
    for (int i = 0; i < 4; ++i) inserted(a_task(), ShardId{shard});
  }
  const auto rows = due({{ShardId{2}}, {ShardId{0}}, {ShardId{1}}}, kMarch, 2);
  ASSERT_EQ(rows.size(), 6U);
  EXPECT_EQ(rows[0].shard, ShardId{2});
  EXPECT_EQ(rows[5].shard, ShardId{1});
  EXPECT_THAT(due({{ShardId{2}}}, kMarch, 0), IsEmpty());
}

TEST_F(MysqlDue, FourThousandShardsCanBeAskedAtOnce) {
  std::vector<ShardCursor> shards;
  for (std::uint16_t shard = 0; shard < 4096; ++shard) shards.push_back({ShardId{shard}, kMarch - 1s, TaskId{1}});
  const TaskRecord first = inserted(a_task(), ShardId{0});
  const TaskRecord last = inserted(a_task(), ShardId{4095});
  EXPECT_EQ(ids_of(due(shards, kMarch)), (std::vector{first.info.id, last.info.id}));
}

TEST_F(MysqlDue, ALiveLeaseIsPassedOverUntilItRunsOutBeforeTheTaskIsDue) {
  const TaskRecord running = claimed(a_task());
  EXPECT_THAT(due_ids(kMarch + 1h), IsEmpty());
  EXPECT_THAT(due_ids(kMarch + 1h, kMarch + 29999ms), IsEmpty());
  EXPECT_THAT(due_ids(kMarch + 1h, kMarch + 30s), ElementsAre(running.info.id));
  by_hand("UPDATE retry_task SET next_retry_time = lease_until");
  EXPECT_THAT(due_ids(kMarch + 1h), ElementsAre(running.info.id));
}

TEST_F(MysqlDue, NonsenseIsPassedOver) {
  const TaskRecord good = inserted(a_task());
  const auto spoil = [&](const std::string& assignment) {
    by_hand("UPDATE retry_task SET " + assignment + " WHERE id = " + to_string(inserted(a_task()).info.id));
  };
  for (const char* what : {"version = 0", "version = -7", "version = 9223372036854775807", "status = 'LOST'"})
    spoil(what);
  EXPECT_THAT(due_ids(TimePoint::max()), ElementsAre(good.info.id));
}

class MysqlSearch : public MysqlTest {
 protected:
  std::vector<TaskId> page(const TaskQuery& query, bool history = false) {
    std::vector<TaskId> ids;
    const auto found = session->page({query, history ? kHistory : kTable, history});
    for (const TaskRecord& record : found) ids.push_back(record.info.id);
    if (query.limit > found.size() && query.after == TaskId{}) {
      EXPECT_EQ(session->count({query, history ? kHistory : kTable, history}), static_cast<std::int64_t>(ids.size()));
    }
    return ids;
  }
};

TEST_F(MysqlSearch, ConditionsAreJoinedAndAnEmptyOneDoesNotRestrict) {
  const TaskId one = inserted(a_task().key("k").business("order", "1")).info.id;
  const TaskId two = inserted(a_task().key("k").name_space("bank").handler("o'refund").business("order", "2")).info.id;
  const TaskId running = claimed(a_task().business("bill", "1")).info.id;
  EXPECT_THAT(page({}), ElementsAre(one, two, running));
  EXPECT_THAT(page({.name_space = "bank"}), ElementsAre(two));
  EXPECT_THAT(page({.key = "k"}), ElementsAre(one, two));
  EXPECT_THAT(page({.name_space = "shop", .key = "k"}), ElementsAre(one));
  EXPECT_THAT(page({.handler = "o'refund"}), ElementsAre(two));
  EXPECT_THAT(page({.business_id = "1"}), ElementsAre(one, running));
  EXPECT_THAT(page({.business_type = "bill", .business_id = "1"}), ElementsAre(running));
  EXPECT_THAT(page({.state = TaskState::running}), ElementsAre(running));
  EXPECT_THAT(page({.state = TaskState::finished}), IsEmpty());
  EXPECT_THAT(page({.outcome = Outcome::succeeded}), IsEmpty());
}

TEST_F(MysqlSearch, PagesGoOnAfterAnId) {
  std::vector<TaskId> stored;
  for (int i = 0; i < 5; ++i) stored.push_back(inserted(a_task().business("order", "1")).info.id);
  EXPECT_THAT(page({.limit = 2}), ElementsAre(stored[0], stored[1]));
  EXPECT_THAT(page({.after = stored[1], .limit = 2}), ElementsAre(stored[2], stored[3]));
  EXPECT_THAT(page({.business_id = "1", .after = stored[3], .limit = SIZE_MAX}), ElementsAre(stored[4]));
  constexpr auto kNewestFirst = ListOrder::newest_first;
  EXPECT_THAT(page({.order = kNewestFirst, .limit = 2}), ElementsAre(stored[4], stored[3]));
  EXPECT_THAT(page({.business_id = "1", .order = kNewestFirst, .after = stored[1], .limit = SIZE_MAX}),
              ElementsAre(stored[0]));
  EXPECT_THAT(page({.limit = 0}), IsEmpty());
}

TEST_F(MysqlSearch, HistoryIsSearchedAlike) {
  const TaskRecord running = claimed(a_task().key("k").business("order", "1"));
  finish(settlement_of(ticket_of(running), Settlement::Kind::finish));
  EXPECT_THAT(page({.key = "k"}, true), ElementsAre(running.info.id));
  EXPECT_THAT(page({.business_id = "1"}, true), ElementsAre(running.info.id));
  EXPECT_THAT(page({.state = TaskState::finished, .outcome = Outcome::succeeded}, true), ElementsAre(running.info.id));
  EXPECT_THAT(page({.state = TaskState::pending}, true), IsEmpty());
  EXPECT_THAT(page({.outcome = Outcome::cancelled}, true), IsEmpty());
}

TEST_F(MysqlTest, TablesAreMadeOnceListedInOrderAndDropped) {
  session->schema().create_tasks(kTable, sql::UniqueKeys::in_task_table);
  session->schema().create_history(kHistory);
  session->schema().create_tasks("retry_task_10", sql::UniqueKeys::in_task_table);
  session->schema().create_tasks("retry_task_2", sql::UniqueKeys::in_task_table);
  by_hand("CREATE TABLE retryable (id INT)");
  by_hand("CREATE VIEW retry_view AS SELECT 1");
  EXPECT_THAT(session->schema().tables(),
              ElementsAre("retry_count", "retry_count_delta", "retry_inbox", "retry_keeper_log", "retry_member",
                          "retry_meta", "retry_pause", "retry_result", "retry_retention", "retry_series", "retry_task",
                          "retry_task_10", "retry_task_2", "retry_task_history_202603"));
  session->schema().drop("retry_task_2");
  session->schema().drop("retry_task_2");
  EXPECT_EQ(session->schema().tables().size(), 13U);
}

TEST_F(MysqlTest, TheFirstAgreementStays) {
  EXPECT_EQ(session->schema().meta("total_shards"), std::nullopt);
  EXPECT_EQ(session->schema().agree("total_shards", "64"), "64");
  EXPECT_EQ(session->schema().agree("total_shards", "128"), "64");
  EXPECT_EQ(session->schema().meta("total_shards"), "64");
}

TEST_F(MysqlTest, TheTimeIsTheServers) {
  const auto before = std::chrono::floor<Millis>(std::chrono::system_clock::now());
  const TimePoint now = session->now();
  const TimePoint begun = session->begin(Promise::unneeded);
  session->commit();
  const auto after = std::chrono::floor<Millis>(std::chrono::system_clock::now());
  EXPECT_LE(before, now);
  EXPECT_LE(now, begun);
  EXPECT_LE(begun, after);
}

TEST_F(MysqlTest, TheSharedServerOfTestsPromisesLittle) {
  EXPECT_EQ(session->schema().durability().words,
            "a crash of the server process; innodb_flush_method=nosync, so a power cut may lose everything");
}

}  // namespace
}  // namespace easyretry::storage::mysql
