// Lists in both orders.

#include <algorithm>
#include <functional>
#include <limits>
#include <set>

#include "conformance/store_conformance.h"

namespace easyretry::test {
namespace {

constexpr auto kNewestFirst = ListOrder::newest_first;

std::vector<TaskId> descending(std::vector<TaskId> ids) {
  std::sort(ids.begin(), ids.end(), std::greater<>{});
  return ids;
}

bool contains(const std::vector<TaskId>& ids, TaskId id) {
  return std::find(ids.begin(), ids.end(), id) != ids.end();
}

TEST_P(StoreConformance, NewestFirstGoesByDescendingId) {
  auto ids = ids_of(insert_many(30, a_task()));
  clock().advance(5ms);
  for (const TaskId id : ids_of(insert_many(30, a_task()))) ids.push_back(id);
  EXPECT_EQ(list({.order = kNewestFirst, .limit = 1000}), descending(ids));
  EXPECT_EQ(list({.name_space = kNamespace, .order = kNewestFirst, .limit = 1000}), descending(ids));
}

TEST_P(StoreConformance, TheFirstPageNewestFirstHasTheLatestTasks) {
  insert_many(20, a_task());
  clock().advance(5ms);
  const auto latest = ids_of(insert_many(3, a_task()));
  EXPECT_EQ(list({.order = kNewestFirst, .limit = 3}), descending(latest));
}

TEST_P(StoreConformance, PagesNewestFirstGoOnBeforeTheLastId) {
  const auto all = descending(ids_of(insert_many(10, a_task())));
  const auto page = [&](TaskId after) { return list({.order = kNewestFirst, .after = after, .limit = 4}); };
  EXPECT_EQ(page({}), (std::vector<TaskId>{all.begin(), all.begin() + 4}));
  EXPECT_EQ(page(all[3]), (std::vector<TaskId>{all.begin() + 4, all.begin() + 8}));
  EXPECT_EQ(page(all[7]), (std::vector<TaskId>{all.begin() + 8, all.end()}));
  EXPECT_THAT(page(all[9]), IsEmpty());
}

TEST_P(StoreConformance, HistoryNewestFirstReachesOverMonths) {
  std::vector<TaskId> ids;
  for (int month = 0; month < 3; ++month) {
    for (const TaskId id : finish_all(insert_many(4, a_task()))) ids.push_back(id);
    clock().advance(31 * 24h);
  }
  EXPECT_EQ(all_pages({.finished = true, .order = kNewestFirst, .limit = 3}), descending(ids));
}

// A task that was stored first and ends in a later month than the others is the last one all the same.
TEST_P(StoreConformance, HistoryGoesByTheTimeOfStoringNotOfTheEnd) {
  const TaskRecord slow = insert(a_task());
  clock().advance(5ms);
  const TaskId quick = finished(a_task()).info.id;
  clock().advance(31 * 24h);
  settle(finish(claim(slow)));
  EXPECT_THAT(list({.finished = true, .order = kNewestFirst}), ElementsAre(quick, slow.info.id));
  EXPECT_THAT(list({.finished = true, .order = kNewestFirst, .limit = 1}), ElementsAre(quick));
  EXPECT_THAT(list({.finished = true, .order = kNewestFirst, .after = quick}), ElementsAre(slow.info.id));
}

TEST_P(StoreConformance, EveryFilterFindsTheSameTasksInBothOrders) {
  const TimePoint begin = now();
  for (int i = 0; i < 24; ++i) {
    NewTask task = a_task()
                       .name_space(i % 4 == 0 ? "bank" : kNamespace)
                       .handler(i % 3 == 0 ? "pay" : "ship")
                       .business(i % 2 == 0 ? "parcel" : "order", i % 5 == 0 ? "7" : "8");
    const TaskRecord done = finished(task, i % 2 == 0 ? Outcome::exhausted : Outcome::succeeded);
    if (i % 6 == 0) requeue(done.info.id);
    task.key += " again";
    i % 4 == 1 ? running(task) : insert(task);
    clock().advance(1s);
  }
  const TimeRange range{begin + 4s, begin + 20s};
  for (TaskQuery query :
       {TaskQuery{}, TaskQuery{.name_space = kNamespace}, TaskQuery{.handler = "ship"},
        TaskQuery{.name_space = kNamespace, .handler = "ship"}, TaskQuery{.business_type = "parcel"},
        TaskQuery{.business_id = "7"}, TaskQuery{.outcome = Outcome::exhausted},
        TaskQuery{.name_space = kNamespace, .outcome = Outcome::exhausted},
        TaskQuery{.name_space = kNamespace, .handler = "pay", .outcome = Outcome::succeeded},
        TaskQuery{.state = TaskState::running}, TaskQuery{.created_at = range},
        TaskQuery{.name_space = kNamespace, .created_at = range}, TaskQuery{.finished_at = range},
        TaskQuery{.name_space = kNamespace, .handler = "ship", .created_at = range, .finished_at = range},
        TaskQuery{.name_space = kNamespace, .requeued = true}}) {
    for (const bool finished_ones : {false, true}) {
      query.finished = finished_ones;
      query.limit = 3;
      query.order = ListOrder::oldest_first;
      const auto wanted = all_pages(query);
      query.order = kNewestFirst;
      EXPECT_EQ(all_pages(query), descending(wanted));
      EXPECT_EQ(count(query), static_cast<std::int64_t>(wanted.size()));
    }
  }
}

TEST_P(StoreConformance, AKeyIsFoundInBothOrders) {
  std::vector<TaskId> ended;
  for (int i = 0; i < 5; ++i) {
    ended.push_back(finished(a_task().key("k")).info.id);
    clock().advance(5ms);
  }
  const TaskId live = insert(a_task().key("k")).info.id;
  for (const char* name_space : {"", kNamespace}) {
    EXPECT_EQ(all_pages({.name_space = name_space, .finished = true, .key = "k", .order = kNewestFirst, .limit = 2}),
              descending(ended));
    EXPECT_THAT(list({.name_space = name_space, .key = "k", .order = kNewestFirst}), ElementsAre(live));
    EXPECT_THAT(list({.name_space = name_space, .key = "k", .order = kNewestFirst, .after = live}), IsEmpty());
  }
}

TEST_P(StoreConformance, PagesAreCompleteAndWithoutDoublesWhileTasksAreAddedAndEnd) {
  for (const ListOrder order : {ListOrder::oldest_first, kNewestFirst}) {
    start({});
    const auto tasks = insert_many(40, a_task());
    std::vector<TaskId> seen;
    std::set<TaskId> gone;
    TaskQuery query{.order = order, .limit = 4};
    for (std::size_t i = 0; i < 9; ++i) {
      for (const TaskId id : list(query)) seen.push_back(id);
      query.after = seen.back();
      clock().advance(5ms);
      insert(a_task());
      for (const std::size_t at : {i, 20 + i}) {  // near the end of the list, and in its middle
        finish_all({again(tasks[at])});
        gone.insert(tasks[at].info.id);
      }
    }
    const auto rest = all_pages(query);
    seen.insert(seen.end(), rest.begin(), rest.end());
    EXPECT_EQ(std::set<TaskId>(seen.begin(), seen.end()).size(), seen.size()) << "one was seen twice";
    for (const TaskRecord& task : tasks) EXPECT_TRUE(gone.contains(task.info.id) || contains(seen, task.info.id));
  }
}

TEST_P(StoreConformance, PagesOfHistoryAreCompleteAndWithoutDoublesWhileMoreTasksEnd) {
  for (const ListOrder order : {ListOrder::oldest_first, kNewestFirst}) {
    start({});
    const auto tasks = insert_many(40, a_task());
    std::vector<TaskRecord> early;
    for (std::size_t i = 0; i < tasks.size(); i += 2) early.push_back(tasks[i]);
    finish_all(early);
    std::vector<TaskId> seen;
    TaskQuery query{.finished = true, .order = order, .limit = 3};
    std::size_t next = 1;
    for (auto page = list(query); !page.empty(); page = list(query)) {
      seen.insert(seen.end(), page.begin(), page.end());
      query.after = seen.back();
      for (const std::size_t at : {next, 40 - next}) {  // from both ends
        if (find(tasks[at].info.id)->info.state == TaskState::pending) finish_all({tasks[at]});
      }
      next = std::min<std::size_t>(next + 2, 39);
    }
    EXPECT_EQ(std::set<TaskId>(seen.begin(), seen.end()).size(), seen.size()) << "one was seen twice";
    for (const TaskRecord& task : early) EXPECT_TRUE(contains(seen, task.info.id));
  }
}

TEST_P(StoreConformance, ThePageSizeNewestFirstMayBeNothingOrWithoutEnd) {
  insert_many(3, a_task());
  EXPECT_THAT(list({.order = kNewestFirst, .limit = 0}), IsEmpty());
  EXPECT_THAT(list({.order = kNewestFirst, .limit = std::numeric_limits<std::size_t>::max()}), SizeIs(3));
}

}  // namespace
}  // namespace easyretry::test
