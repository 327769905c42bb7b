#include "storage/sqlite/history_tables.h"
#include "unit/storage/sqlite/support.h"

namespace easyretry::storage::sqlite {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TimePoint first_of(int year, unsigned month) {
  return TimePoint{std::chrono::sys_days{std::chrono::year{year} / static_cast<int>(month) / 1}};
}

class SqliteHistory : public SqliteTest {
 protected:
  std::vector<std::string> tables() {
    Connection db{file(), Connection::Mode::create};
    return history_tables(db);
  }
  void finish_in(int year, unsigned month) {
    clock.set_wall(first_of(year, month));
    finish(a_task());
  }
};

TEST(Months, NameTheTableOfTheMonthInUtc) {
  EXPECT_EQ(month_table(month_of(first_of(2026, 3))), "retry_state_202603");
  EXPECT_EQ(month_table(month_of(first_of(2026, 3) - 1ms)), "retry_state_202602");
  EXPECT_EQ(month_table(month_of(first_of(2026, 1) - 1ms)), "retry_state_202512");
  EXPECT_EQ(month_table(month_of(first_of(2026, 12))), "retry_state_202612");
}

TEST(Months, BeginWhereTheOneBeforeEnds) {
  for (int month = 0; month < 48; ++month) {
    const Period any{PeriodLength::month, 2024 * 12 + month};
    EXPECT_EQ(month_of(begin_of(any)), any);
    EXPECT_EQ(month_of(begin_of(any) - 1ms), previous(any));
  }
}

TEST(Months, AreReadBackFromTheName) {
  for (int month = 0; month < 48; ++month) {
    const Period any{PeriodLength::month, 2024 * 12 + month};
    EXPECT_EQ(month_of_table(month_table(any)), any);
  }
  for (const auto* other : {"retry_state", "retry_state_", "retry_state_2026", "retry_state_202613",
                            "retry_state_202600", "retry_state_20260x", "retry_state_2026031"}) {
    EXPECT_FALSE(month_of_table(other)) << other;
  }
}

TEST(Months, AClockGoneMadStillNamesATable) {
  EXPECT_EQ(month_of_table(month_table(month_of(TimePoint{Millis{-99'999'999'999'999}}))),
            month_of(TimePoint{Millis{-99'999'999'999'999}}));
  EXPECT_EQ(month_table(month_of(TimePoint{Millis{999'999'999'999'999}})).size(), month_table(month_of(kMarch)).size());
}

TEST_F(SqliteHistory, AMonthsTableIsMadeWhenItsFirstTaskFinishes) {
  open();
  insert(a_task());
  EXPECT_THAT(tables(), IsEmpty());
  finish_in(2026, 3);
  EXPECT_THAT(tables(), ElementsAre("retry_state_202603"));
}

TEST_F(SqliteHistory, ATaskGoesToTheMonthInWhichItFinished) {
  open();
  const Inserted task = insert(a_task());
  clock.set_wall(first_of(2026, 4));
  const TaskRecord running = claim(task);
  Settlement done;
  done.ticket = {running.info.id, running.info.version};
  must(store().settle({&done, 1}));
  EXPECT_THAT(tables(), ElementsAre("retry_state_202604"));
}

TEST_F(SqliteHistory, IsReadWithItsArgumentsAsOneTable) {
  open();
  finish(a_task().key("k").payload("[7]"));
  EXPECT_EQ(ask("SELECT count(*) FROM retry_task_history_202603 WHERE task_key = 'k' AND params_json = '[7]' "
                "AND status = 'FINISHED' AND outcome = 'SUCCEEDED' AND updated_at = finished_at"),
            1);
}

TEST_F(SqliteHistory, WithoutHistoryNoTableIsMade) {
  SqliteOptions none = options();
  none.history = History::none;
  open(none);
  finish_in(2026, 3);
  EXPECT_THAT(tables(), IsEmpty());
}

TEST_F(SqliteHistory, KeepDropsOnlyMonthsThatAreOldEnough) {
  open();
  for (const unsigned month : {1U, 2U, 3U, 4U, 5U}) finish_in(2026, month);
  clock.set_wall(first_of(2026, 6) - 1ms);
  EXPECT_THAT(dropped_months(must(store().keep())), ElementsAre("retry_task_history_202601"));
  EXPECT_THAT(tables(),
              ElementsAre("retry_state_202602", "retry_state_202603", "retry_state_202604", "retry_state_202605"));
  EXPECT_EQ(count(true), 4);
  EXPECT_THAT(dropped_months(must(store().keep())), IsEmpty());

  clock.set_wall(first_of(2026, 6));
  EXPECT_THAT(dropped_months(must(store().keep())), ElementsAre("retry_task_history_202602"));
}

TEST_F(SqliteHistory, KeepCountsMonthsAcrossTheTurnOfTheYear) {
  SqliteOptions short_memory = options();
  short_memory.keep_months = 1;
  open(short_memory);
  finish_in(2025, 11);
  finish_in(2025, 12);
  finish_in(2026, 1);
  EXPECT_THAT(dropped_months(must(store().keep())), ElementsAre("retry_task_history_202511"));
}

TEST_F(SqliteHistory, KeepLeavesTablesThatAreNotOurs) {
  open();
  by_hand("CREATE TABLE retry_state_notes (text TEXT); CREATE TABLE retry_state_190013 (text TEXT)");
  EXPECT_THAT(dropped_months(must(store().keep())), IsEmpty());
}

TEST_F(SqliteHistory, WorkGoesOnAfterTheCurrentMonthWasDropped) {
  open();
  finish_in(2026, 6);
  by_hand("DROP TABLE retry_state_202606");
  const Inserted task = insert(a_task());
  const TaskRecord running = claim(task);
  Settlement done;
  done.ticket = {running.info.id, running.info.version};
  store().settle({&done, 1});  // its prepared statement has lost its table
  must(store().find({&task.id, 1}));
  must(store().settle({&done, 1}));
  EXPECT_EQ(count(true), 1);
}

TEST_F(SqliteHistory, AFinishThatFailsLeavesTheTaskWhereItWas) {
  open();
  finish_in(2026, 3);
  by_hand("CREATE TRIGGER stop BEFORE DELETE ON retry_state BEGIN SELECT RAISE(ABORT, 'not now'); END");
  const Inserted task = insert(a_task());
  const TaskRecord running = claim(task);
  Settlement done;
  done.ticket = {running.info.id, running.info.version};
  EXPECT_FALSE(store().settle({&done, 1}));
  EXPECT_EQ(count(), 1);
  EXPECT_EQ(count(true), 1) << "the one before";
}

}  // namespace
}  // namespace easyretry::storage::sqlite
