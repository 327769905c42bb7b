// Pages of history: that they are right, and what they cost.

#include <algorithm>
#include <random>

#include "storage/sqlite/id_list.h"
#include "storage/sqlite/search.h"
#include "unit/storage/sqlite/support.h"

namespace easyretry::storage::sqlite {
namespace {

using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::IsEmpty;

class HistorySearch : public SqliteTest {
 protected:
  HistorySearch() { open(); }

  // Stores a task that ends `after` later.
  TaskId ended(const NewTask& task, Outcome outcome, Millis after = 0ms) {
    const Inserted inserted = insert(task);
    clock.advance(after);
    settle(claim(inserted), Settlement::Kind::finish, outcome);
    return inserted.id;
  }

  std::vector<TaskId> page(TaskQuery query) {
    query.finished = true;
    std::vector<TaskId> ids;
    for (const TaskRecord& record : must(store().list(query))) ids.push_back(record.info.id);
    return ids;
  }
};

TEST_F(HistorySearch, ATaskThatLivedForDaysIsFoundByWhenItEnded) {
  const TaskId prompt = ended(a_task(), Outcome::succeeded);
  const TaskId late = ended(a_task(), Outcome::exhausted, 72h);
  const TimeRange then{kMarch + 71h, kMarch + 73h};
  EXPECT_THAT(page({.name_space = "shop", .finished_at = then}), ElementsAre(late));
  EXPECT_THAT(page({.name_space = "shop", .outcome = Outcome::exhausted, .finished_at = then}), ElementsAre(late));
  EXPECT_THAT(page({.name_space = "shop", .handler = "pay", .finished_at = then}), ElementsAre(late));
  EXPECT_THAT(page({.name_space = "shop", .outcome = Outcome::succeeded, .finished_at = then}), IsEmpty());
  EXPECT_THAT(page({.finished_at = {{}, kMarch + 1h}}), ElementsAre(prompt));
}

// Ids still grow.
TEST_F(HistorySearch, ATaskStoredAfterTheClockWasSetBackIsFoundByWhenItWasStored) {
  ended(a_task(), Outcome::succeeded);
  clock.set_wall(kMarch - 48h);
  const TaskId back = ended(a_task(), Outcome::succeeded);
  EXPECT_THAT(page({.name_space = "shop", .created_at = {kMarch - 49h, kMarch - 47h}}), ElementsAre(back));
  EXPECT_THAT(page({.name_space = "shop", .handler = "pay", .created_at = {{}, kMarch - 47h}}), ElementsAre(back));
  EXPECT_THAT(page({.name_space = "shop", .finished_at = {{}, kMarch - 47h}}), ElementsAre(back));
}

TEST_F(HistorySearch, EveryTaskIsInAPageOnceAndPagesGoOnWhereTheOneBeforeEnded) {
  std::vector<TaskId> all;
  for (int i = 0; i < 30; ++i) {
    const Outcome outcome = i % 3 == 0 ? Outcome::exhausted : Outcome::succeeded;
    all.push_back(ended(a_task().handler(i % 2 == 0 ? "pay" : "ship"), outcome, i % 5 == 0 ? 3h : 4min));
  }
  std::sort(all.begin(), all.end());
  for (const ListOrder order : {ListOrder::oldest_first, ListOrder::newest_first}) {
    TaskQuery query{
        .name_space = "shop", .created_at = {kMarch, {}}, .finished_at = {kMarch, {}}, .order = order, .limit = 7};
    std::vector<TaskId> pages;
    for (auto next = page(query); !next.empty(); next = page(query)) {
      pages.insert(pages.end(), next.begin(), next.end());
      query.after = next.back();
    }
    EXPECT_THAT(pages, ElementsAreArray(all));
    std::reverse(all.begin(), all.end());
  }
}

// Compared with a filter over all rows, on a clock that jumps.
TEST_F(HistorySearch, FindsTheSameAsAFilterOfAllRows) {
  std::mt19937 random{20'260'310};
  const auto any = [&](int below) { return static_cast<int>(random() % static_cast<unsigned>(below)); };
  const std::array<std::string, 3> namespaces{"shop", "bank", ""};
  const std::array<std::string, 4> handlers{"pay", "ship", "mail", ""};
  const std::array<Outcome, 3> outcomes{Outcome::succeeded, Outcome::exhausted, Outcome::cancelled};
  const auto some_time = [&]() -> std::optional<TimePoint> {
    return any(3) == 0 ? std::nullopt
                       : std::optional{kMarch + std::chrono::minutes{any(2 * 60 * 24 * 40) - 60 * 24 * 40}};
  };
  for (int i = 0; i < 400; ++i) {
    if (any(20) == 0) clock.set_wall(kMarch + std::chrono::hours{any(24 * 60) - 24 * 30});
    clock.advance(std::chrono::minutes{any(90)});
    ended(a_task().name_space(namespaces[any(2)]).handler(handlers[any(3)]).business(any(2) == 0 ? "order" : "", ""),
          outcomes[any(3)], any(4) == 0 ? Millis{std::chrono::hours{any(100)}} : Millis{0});
  }
  auto all = must(store().list({.finished = true, .limit = 1000}));
  ASSERT_EQ(all.size(), 400U);
  for (int i = 0; i < 1000; ++i) {
    TaskQuery query{
        .name_space = namespaces[any(3)], .handler = handlers[any(4)], .created_at = {some_time(), some_time()}};
    if (i == 500) std::reverse(all.begin(), all.end());
    if (i >= 500) query.order = ListOrder::newest_first;
    bool reached = true;
    if (any(2) == 0) query.outcome = outcomes[any(3)];
    if (any(2) == 0) query.finished_at = {some_time(), some_time()};
    if (any(3) == 0) query.business_type = "order";
    if (any(3) == 0) {
      query.after = all[any(400)].info.id;
      reached = false;
    }
    query.limit = 1 + any(50);
    std::vector<TaskId> expected;
    for (const TaskRecord& record : all) {
      const TaskInfo& info = record.info;
      if ((query.name_space.empty() || info.name_space == query.name_space) &&
          (query.handler.empty() || info.handler == query.handler) &&
          (!query.outcome || info.outcome == query.outcome) && query.created_at.contains(info.created_at) &&
          query.finished_at.contains(*info.finished_at) && reached &&
          (query.business_type.empty() || info.business_type == query.business_type) && expected.size() < query.limit) {
        expected.push_back(info.id);
      }
      if (info.id == query.after) reached = true;
    }
    ASSERT_THAT(page(query), ElementsAreArray(expected)) << "query " << i;
  }
}

// 40,000 tasks in two weeks, one in a thousand of another handler, one in 500 failed, one in 50 ended a day late.
class LongHistory : public SqliteTest {
 protected:
  LongHistory() {
    open();
    finish(a_task());
    close();
    db.run("DELETE FROM retry_state_202603; DELETE FROM retry_call");
    db.run(
        "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 39999), "
        "t(i, at) AS (SELECT i, 1772323200000 + i * 30000 FROM n) "
        "INSERT INTO retry_state_202603 (id, version, method_name, next_retry_time, namespace, stage, attempt_count, "
        "callback_count, crash_count, delivery_count, outcome, finished_at) "
        "SELECT ((at - 1577836800000) << 22) + i % 1024, 3, CASE WHEN i % 1000 = 7 THEN 'rare' ELSE 'pay' END, at, "
        "'shop', "
        "'RUN', 1, 0, 0, 1, CASE WHEN i % 500 = 9 THEN 'EXHAUSTED' ELSE 'SUCCEEDED' END, "
        "at + CASE WHEN i % 50 = 3 THEN 86400000 ELSE 50 END FROM t");
    db.run(
        "INSERT INTO retry_call (id, task_key, created_at, max_attempts) "
        "SELECT id, id, (id >> 22) + 1577836800000, 3 FROM retry_state_202603");
    add_id_list(db);
  }

  // Instructions of SQLite's machine, in tens.
  int cost(TaskQuery query) {
    int tens = 0;
    sqlite3_progress_handler(
        db.get(), 10, [](void* count) { return ++*static_cast<int*>(count), 0; }, &tens);
    query.finished = true;
    EXPECT_THAT(search_history(db, query, {"retry_state_202603"}), Not(IsEmpty()));
    return tens;
  }

  static constexpr TimePoint kDay{std::chrono::sys_days{std::chrono::year{2026} / 3 / 12}};
  Connection db{file(), Connection::Mode::create};
};

TEST_F(LongHistory, APageCostsAboutTheSameHoweverRareItsMatchesAre) {
  const int first = cost({.name_space = "shop"});
  for (TaskQuery query :
       {TaskQuery{.name_space = "shop", .handler = "rare"},
        TaskQuery{.name_space = "shop", .outcome = Outcome::exhausted},
        TaskQuery{.name_space = "shop", .handler = "pay", .outcome = Outcome::exhausted},
        TaskQuery{.name_space = "shop", .handler = "pay"},
        TaskQuery{.name_space = "shop", .created_at = {kDay, kDay + 1h}},
        TaskQuery{.name_space = "shop", .finished_at = {kDay, kDay + 1h}},
        TaskQuery{.name_space = "shop", .outcome = Outcome::exhausted, .finished_at = {kDay, kDay + 24h}},
        TaskQuery{.name_space = "shop", .handler = "rare", .created_at = {kDay, kDay + 24h}},
        TaskQuery{.name_space = "shop", .finished_at = {kDay, {}}}}) {
    EXPECT_LT(cost(query), 10 * first);
    query.order = ListOrder::newest_first;
    EXPECT_LT(cost(query), 10 * first) << "newest first";
  }
}

}  // namespace
}  // namespace easyretry::storage::sqlite
