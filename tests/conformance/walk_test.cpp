// Lists by conditions that no index serves.

#include <algorithm>

#include "conformance/store_conformance.h"
#include "storage/task_walk.h"
#include "task/error_kind.h"

namespace easyretry::test {
namespace {

std::string fingerprint(const std::string& error) {
  return task::fingerprint_of(task::kind_of(error));
}

class Walks {
 public:
  Walks(storage::Store& store, const Clock& clock) : store_(store), clock_(clock) {}

  storage::ListPage page(TaskQuery query, Millis within) {
    query.name_space = kNamespace;
    return must(storage::list_page(store_, query, clock_, clock_.steady() + within));
  }
  std::vector<TaskId> operator()(const TaskQuery& query) { return ids_of(page(query, 1h).records); }

 private:
  storage::Store& store_;
  const Clock& clock_;
};

TEST_P(StoreConformance, AWalkFindsLiveTasksByColumnsWithoutAnIndex) {
  Walks found{store(), clock()};
  NewTask tagged = a_task();
  tagged.tags = {"blue", "vip", R"(he said "ü")"};
  const TaskRecord vip = insert(tagged);
  const TaskRecord late = insert(a_task().due_in(2h));
  const TaskRecord held = claim(insert(a_task()), "node-7");
  const TaskRecord tried = running(a_task());
  settle(retry(tried, 10min, "no user 17"));
  EXPECT_THAT(found({.tag = "vip"}), ElementsAre(vip.info.id));
  EXPECT_THAT(found({.tag = R"(he said "ü")"}), ElementsAre(vip.info.id));
  for (const char* other : {"vi", "VIP", "he said", "vip\",\"blue"})
    EXPECT_THAT(found({.tag = other}), IsEmpty()) << other;
  EXPECT_THAT(found({.due_at = {.from = now() + 1h}}), ElementsAre(late.info.id));
  EXPECT_THAT(found({.due_at = {.from = now() + 1min, .until = now() + 1h}}), ElementsAre(tried.info.id));
  EXPECT_THAT(found({.owner = "node-7"}), ElementsAre(held.info.id));
  EXPECT_THAT(found({.attempts_from = 1}), UnorderedElementsAre(held.info.id, tried.info.id));
  EXPECT_THAT(found({.attempts_from = 2}), IsEmpty());
  EXPECT_THAT(found({.failed = true}), ElementsAre(tried.info.id));
  EXPECT_THAT(found({.error = fingerprint("no user 4711")}), ElementsAre(tried.info.id));
  EXPECT_THAT(found({.error = fingerprint("no order 4711")}), IsEmpty());
  EXPECT_THAT(found({.handler = "another", .failed = true}), IsEmpty());
  EXPECT_THAT(found({.state = TaskState::running, .failed = true}), IsEmpty());
}

TEST_P(StoreConformance, AWalkFindsFailuresInHistoryButNoTaskThatSucceededOrWasCancelled) {
  Walks found{store(), clock()};
  std::vector<TaskId> failed;
  for (const Outcome outcome : task::all_outcomes()) {
    const TaskRecord task = running(a_task());
    settle(finish(task, outcome, "no user " + std::to_string(failed.size())));
    if (outcome != Outcome::succeeded && outcome != Outcome::cancelled) failed.push_back(task.info.id);
    clock().advance(5ms);
  }
  ASSERT_THAT(failed, SizeIs(4));
  EXPECT_THAT(found({.finished = true, .failed = true}), UnorderedElementsAreArray(failed));
  EXPECT_THAT(found({.finished = true, .error = fingerprint("no user 9")}), UnorderedElementsAreArray(failed));
  EXPECT_THAT(found({.finished = true, .outcome = Outcome::parked, .error = fingerprint("no user 9")}), SizeIs(1));
  EXPECT_THAT(found({.finished = true, .outcome = Outcome::succeeded, .failed = true}), IsEmpty());
  EXPECT_THAT(found({.finished = true, .error = fingerprint("HTTP 503")}), IsEmpty());
  EXPECT_THAT(found({.finished = true, .due_at = {.from = TimePoint{}}}), IsEmpty()) << "nothing of them is due";
}

// Every five hundredth of 6,000 tasks matches; a page without time looks at a slice of them.
TEST_P(StoreConformance, AWalkEndsWithItsTimeAndTheNextPageContinuesThere) {
  Walks found{store(), clock()};
  std::vector<TaskId> wanted;
  for (int i = 0; i < 12; ++i) {
    insert_many(499, a_task());
    NewTask tagged = a_task();
    tagged.tags = {"vip"};
    wanted.push_back(insert(tagged).info.id);
    clock().advance(5ms);
  }
  std::ranges::sort(wanted);
  for (const ListOrder order : {ListOrder::oldest_first, ListOrder::newest_first}) {
    TaskQuery query{.tag = "vip", .order = order, .limit = 10};
    std::vector<TaskId> ids;
    int pages = 0;
    std::int64_t scanned = 0;
    while (true) {
      const storage::ListPage one = found.page(query, 0ms);
      ++pages;
      scanned += one.scanned;
      EXPECT_LE(one.scanned, 4000) << "one slice, because there is no time";
      for (const TaskRecord& record : one.records) ids.push_back(record.info.id);
      if (!one.next) break;
      query.after = *one.next;
    }
    EXPECT_GT(pages, 1);
    EXPECT_GE(scanned, 6000);
    std::vector<TaskId> in_order = wanted;
    if (order == ListOrder::newest_first) std::ranges::reverse(in_order);
    EXPECT_EQ(ids, in_order);
    const storage::ListPage whole = found.page({.tag = "vip", .order = order, .limit = 100}, 1h);
    EXPECT_EQ(ids_of(whole.records), in_order);
    EXPECT_GE(whole.scanned, 6000);
    EXPECT_FALSE(whole.next) << "the end was reached";
  }
}

TEST_P(StoreConformance, AFullPageOfAWalkEndsWhereItsLastTaskIs) {
  Walks found{store(), clock()};
  insert_many(30, a_task());
  const storage::ListPage first = found.page({.due_at = {.from = TimePoint{}}, .limit = 20}, 1h);
  EXPECT_THAT(first.records, SizeIs(20));
  ASSERT_TRUE(first.next);
  EXPECT_EQ(*first.next, first.records.back().info.id);
  const storage::ListPage rest = found.page({.due_at = {.from = TimePoint{}}, .after = *first.next, .limit = 20}, 1h);
  EXPECT_THAT(rest.records, SizeIs(10));
  EXPECT_FALSE(rest.next);
}

TEST_P(StoreConformance, AListByARareHandlerStopsInTimeUnlessTheStoreHasAnIndex) {
  Walks found{store(), clock()};
  NewTask rare = a_task();
  rare.handler = "rare";
  const TaskRecord wanted = insert(rare);
  clock().advance(5ms);
  insert_many(6000, a_task());
  TaskQuery query{.handler = "rare", .order = ListOrder::newest_first, .limit = 10};
  storage::ListPage page = found.page(query, 0ms);
  EXPECT_EQ(page.records.empty() && page.next, !store().info().indexes_handlers);
  while (page.records.empty() && page.next) {
    query.after = *page.next;
    page = found.page(query, 0ms);
  }
  EXPECT_THAT(ids_of(page.records), ElementsAre(wanted.info.id));
  EXPECT_THAT(found({.handler = "rare", .state = TaskState::running}), IsEmpty());
}

TEST_P(StoreConformance, WithoutAConditionForAWalkAPageIsThatOfTheStore) {
  Walks found{store(), clock()};
  const auto all = ids_of(insert_many(5, a_task()));
  const storage::ListPage first = found.page({.limit = 3}, 0ms);
  EXPECT_EQ(ids_of(first.records), (std::vector<TaskId>{all.begin(), all.begin() + 3}));
  EXPECT_EQ(first.next, all[2]);
  EXPECT_FALSE(found.page({.after = all[2], .limit = 3}, 0ms).next);
}

}  // namespace
}  // namespace easyretry::test
