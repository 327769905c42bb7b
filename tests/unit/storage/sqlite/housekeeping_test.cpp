// Old months are dropped with the lookup entries of their tasks: in short writes, and even after an interruption.

#include "support/endings.h"
#include "unit/storage/sqlite/support.h"

namespace easyretry::storage::sqlite {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr TimePoint kJanuary{std::chrono::sys_days{std::chrono::year{2026} / 1 / 10}};
constexpr TimePoint kJune{std::chrono::sys_days{std::chrono::year{2026} / 6 / 10}};
constexpr auto kJanuarysTasks = "retry_task_history_202601";

class SqliteHousekeeping : public SqliteTest {
 protected:
  SqliteHousekeeping() {
    clock.set_wall(kJanuary);
    reopen();
  }
  void reopen() {
    SqliteOptions wanted = options();
    wanted.full_sync = false;
    open(wanted);
  }
  std::vector<TaskId> insert_many(int count) {
    std::vector<NewTask> tasks;
    for (int i = 0; i < count; ++i) tasks.push_back(a_task().business("order", std::to_string(i)));
    std::vector<TaskId> ids;
    for (const Inserted& task : must(store().insert(tasks)).tasks) ids.push_back(task.id);
    return ids;
  }
  void end(const std::vector<TaskId>& ids) { must(store().end(test::endings(ids))); }
  KeepReport keep() { return must(store().keep()); }
  // January's 3,000 tasks and a live one; the sweep fails when it reaches the business ids.
  void cut_short() {
    end(insert_many(3000));
    insert_many(1);
    clock.set_wall(kJune);
    by_hand("CREATE TRIGGER stop BEFORE DELETE ON retry_lookup WHEN OLD.part = 2 BEGIN SELECT RAISE(ABORT, 'no'); END");
    EXPECT_FALSE(store().keep());
    by_hand("DROP TRIGGER stop");
  }
  std::int64_t entries(const std::string& where = "TRUE") {
    return ask("SELECT count(*) FROM retry_lookup WHERE " + where);
  }
};

TEST_F(SqliteHousekeeping, AMonthTakesItsEntriesWithItAndNoOthers) {
  end(insert_many(2500));
  const auto live = insert_many(10);
  const auto finished_later = insert_many(10);
  clock.set_wall(kJune);
  end(finished_later);
  const auto young = insert_many(10);
  end({young.begin(), young.begin() + 5});

  EXPECT_THAT(dropped_months(keep()), ElementsAre(kJanuarysTasks));
  EXPECT_EQ(entries(), 2 * 30) << "a key and a business id for each";
  EXPECT_EQ(ask("SELECT count(*) FROM retry_call"), 30);
  for (const bool finished : {false, true}) {
    for (const TaskRecord& record : must(store().list({.finished = finished}))) {
      EXPECT_THAT(must(store().list({.finished = finished, .key = record.info.key})), SizeIs(1));
    }
  }
  const NewTask again = a_task().key(must(store().find({live.data(), 1})).at(0).info.key);
  EXPECT_EQ(insert(again).id, live[0]);
}

TEST_F(SqliteHousekeeping, AMonthTakesItsMarksWithItAndNoOthers) {
  const auto old = insert_many(2500);
  end(old);
  const auto marks = [&] { return ask("SELECT count(*) FROM retry_requeued"); };
  const auto january = must(store().requeue({old.data(), 2300}));
  clock.set_wall(kJune);
  std::vector<TaskId> young;
  for (const auto& id : january) young.push_back(id.value());
  end(young);
  must(store().requeue({young.data(), 7}));
  EXPECT_EQ(marks(), 2307);
  EXPECT_THAT(dropped_months(keep()), ElementsAre(kJanuarysTasks));
  EXPECT_EQ(marks(), 7);
  EXPECT_FALSE(must(store().requeue({young.data(), 1})).at(0));
}

TEST_F(SqliteHousekeeping, IsDoneInManyShortWrites) {
  end(insert_many(5000));
  clock.set_wall(kJune);
  const auto before = sqlite_commit_count(store());
  keep();
  EXPECT_GE(sqlite_commit_count(store()) - before, 10U + 2U) << "10,000 entries, 1,000 at a time; 5,000 rows, 2,000";
}

TEST_F(SqliteHousekeeping, IsNotHeldUpByEntriesThatStay) {
  end(insert_many(10));
  insert_many(2500);
  clock.set_wall(kJune);
  EXPECT_THAT(dropped_months(keep()), ElementsAre(kJanuarysTasks));
}

TEST_F(SqliteHousekeeping, CostsOneTransactionWhereNoMonthIsOld) {
  end(insert_many(3000));
  const auto before = sqlite_commit_count(store());
  EXPECT_THAT(dropped_months(keep()), IsEmpty());
  EXPECT_EQ(sqlite_commit_count(store()) - before, 1U);
}

TEST_F(SqliteHousekeeping, CutShortKeepsTheMonthAndTheDeletionsMadeSoFar) {
  cut_short();
  EXPECT_EQ(ask("SELECT count(*) FROM " + std::string{kJanuarysTasks}), 3000);
  EXPECT_LT(entries("part = 0"), 1100);
  EXPECT_EQ(entries("part = 2"), 3001);
}

TEST_F(SqliteHousekeeping, CutShortGoesOnTheNextTime) {
  cut_short();
  EXPECT_THAT(dropped_months(keep()), ElementsAre(kJanuarysTasks));
  EXPECT_EQ(entries(), 2) << "of the live task";
}

TEST_F(SqliteHousekeeping, CutShortByARestartGoesOnAfterIt) {
  cut_short();
  reopen();
  EXPECT_THAT(dropped_months(keep()), ElementsAre(kJanuarysTasks));
  EXPECT_EQ(entries(), 2) << "of the live task";
}

TEST_F(SqliteHousekeeping, ALongSweepSaysThatThereIsMoreToDo) {
  finish(a_task());
  by_hand(
      "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 250000) "
      "INSERT INTO retry_lookup SELECT 0, i * 7919, i FROM n");
  clock.set_wall(kJune);
  int calls = 1;
  KeepReport report = keep();
  for (; report.more && calls < 100; ++calls) {
    EXPECT_THAT(dropped_months(report), IsEmpty());
    report = keep();
  }
  EXPECT_EQ(calls, 3);
  EXPECT_THAT(dropped_months(report), ElementsAre(kJanuarysTasks));
  EXPECT_EQ(entries(), 0);
}

}  // namespace
}  // namespace easyretry::storage::sqlite
