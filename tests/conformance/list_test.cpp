#include <algorithm>
#include <limits>

#include "conformance/store_conformance.h"

namespace easyretry::test {
namespace {

TEST_P(StoreConformance, ListGivesWholeRecords) {
  const TaskRecord task = running(a_task().payload("[42]").business("order", "42"));
  const auto page = must(store().list({.name_space = kNamespace}));
  ASSERT_THAT(page, SizeIs(1));
  expect_same(page[0], task);
}

TEST_P(StoreConformance, ListIsEmptyWhereNothingIsStored) {
  EXPECT_THAT(list({}), IsEmpty());
  EXPECT_THAT(list({.finished = true}), IsEmpty());
  EXPECT_EQ(count({}), 0);
  EXPECT_EQ(count({.finished = true}), 0);
}

TEST_P(StoreConformance, ListGoesByAscendingId) {
  auto ids = ids_of(insert_many(30, a_task()));
  clock().advance(5ms);
  for (const TaskId id : ids_of(insert_many(30, a_task()))) ids.push_back(id);
  std::sort(ids.begin(), ids.end());
  EXPECT_EQ(list({.limit = 1000}), ids);
}

TEST_P(StoreConformance, ListReturnsLiveTasksOrHistory) {
  const TaskRecord pending = insert(a_task());
  const TaskRecord held = running(a_task());
  const TaskRecord done = finished(a_task());
  EXPECT_THAT(list({}), UnorderedElementsAre(pending.info.id, held.info.id));
  EXPECT_THAT(list({.finished = true}), ElementsAre(done.info.id));
  EXPECT_EQ(count({}), 2);
  EXPECT_EQ(count({.finished = true}), 1);
}

TEST_P(StoreConformance, AFinishedRecordIsListedWhole) {
  const TaskRecord claimed = running(a_task().payload("[42]").business("order", "42"));
  settle(finish(claimed, Outcome::rejected, "account closed"));
  const auto page = must(store().list({.finished = true}));
  ASSERT_THAT(page, SizeIs(1));
  expect_same(page[0], again(claimed));
}

// Every condition alone, among live tasks and in history.
TEST_P(StoreConformance, EachConditionRestrictsTheList) {
  const NewTask wanted = a_task().name_space("bank").key("k").handler("ship").business("parcel", "7");
  const NewTask other = a_task();
  for (const bool finished_ones : {false, true}) {
    start({});
    const TaskRecord match = finished_ones ? finished(wanted) : insert(wanted);
    finished_ones ? finished(other) : insert(other);
    for (const TaskQuery& query :
         {TaskQuery{.name_space = "bank"}, TaskQuery{.key = "k"}, TaskQuery{.handler = "ship"},
          TaskQuery{.business_type = "parcel"}, TaskQuery{.business_id = "7"},
          TaskQuery{
              .name_space = "bank", .key = "k", .handler = "ship", .business_type = "parcel", .business_id = "7"}}) {
      TaskQuery asked = query;
      asked.finished = finished_ones;
      EXPECT_THAT(list(asked), ElementsAre(match.info.id));
      EXPECT_EQ(count(asked), 1);
    }
  }
}

TEST_P(StoreConformance, ConditionsAreJoinedByAnd) {
  insert(a_task().handler("pay").business("order", "42"));
  insert(a_task().handler("ship").business("order", "7"));
  EXPECT_THAT(list({.handler = "pay", .business_id = "7"}), IsEmpty());
  EXPECT_EQ(count({.handler = "pay", .business_id = "7"}), 0);
}

TEST_P(StoreConformance, WithoutASpaceEverySpaceIsListed) {
  insert(a_task().name_space("shop"));
  insert(a_task().name_space("bank"));
  EXPECT_THAT(list({}), SizeIs(2));
  EXPECT_EQ(count({}), 2);
}

TEST_P(StoreConformance, ConditionsAreWholeWordsNotPatterns) {
  insert(a_task().key("pay:42").handler("pay"));
  for (const TaskQuery& query : {TaskQuery{.key = "pay"}, TaskQuery{.key = "pay:%"}, TaskQuery{.key = "pay:4_"},
                                 TaskQuery{.key = "PAY:42"}, TaskQuery{.handler = "pa"}}) {
    EXPECT_THAT(list(query), IsEmpty());
    EXPECT_EQ(count(query), 0);
  }
}

TEST_P(StoreConformance, TasksAreListedByState) {
  const TaskRecord pending = insert(a_task());
  const TaskRecord held = running(a_task());
  const TaskRecord done = finished(a_task());
  EXPECT_THAT(list({.state = TaskState::pending}), ElementsAre(pending.info.id));
  EXPECT_THAT(list({.state = TaskState::running}), ElementsAre(held.info.id));
  EXPECT_THAT(list({.state = TaskState::finished}), IsEmpty()) << "finished tasks are asked for by `finished`";
  EXPECT_THAT(list({.finished = true, .state = TaskState::finished}), ElementsAre(done.info.id));
  EXPECT_THAT(list({.finished = true, .state = TaskState::pending}), IsEmpty());
  EXPECT_EQ(count({.state = TaskState::running}), 1);
}

TEST_P(StoreConformance, FinishedTasksAreListedByOutcome) {
  const TaskRecord good = finished(a_task(), Outcome::succeeded);
  const TaskRecord dead = finished(a_task(), Outcome::quarantined);
  EXPECT_THAT(list({.finished = true, .outcome = Outcome::succeeded}), ElementsAre(good.info.id));
  EXPECT_THAT(list({.finished = true, .outcome = Outcome::quarantined}), ElementsAre(dead.info.id));
  EXPECT_THAT(list({.finished = true, .outcome = Outcome::parked}), IsEmpty());
  EXPECT_EQ(count({.finished = true, .outcome = Outcome::quarantined}), 1);
}

TEST_P(StoreConformance, RequeuedTasksAreListedAndCountedOnlyOnRequest) {
  const NewTask task = a_task().key("k").handler("ship").business("parcel", "7");
  const TaskRecord failed = finished(task, Outcome::exhausted);
  const TaskRecord other = finished(a_task().handler("ship").business("parcel", "7"), Outcome::exhausted);
  const TaskId fresh = requeue(failed.info.id).value();
  const TimePoint end = now() + 1ms;
  for (TaskQuery query :
       {TaskQuery{}, TaskQuery{.name_space = kNamespace}, TaskQuery{.handler = "ship"},
        TaskQuery{.outcome = Outcome::exhausted}, TaskQuery{.business_id = "7"},
        TaskQuery{.name_space = kNamespace, .handler = "ship"},
        TaskQuery{.name_space = kNamespace, .outcome = Outcome::exhausted},
        TaskQuery{.name_space = kNamespace, .handler = "ship", .outcome = Outcome::exhausted},
        TaskQuery{.finished_at = {{}, end}}, TaskQuery{.name_space = kNamespace, .finished_at = {{}, end}},
        TaskQuery{.name_space = kNamespace, .created_at = {{}, end}}}) {
    query.finished = true;
    EXPECT_THAT(list(query), ElementsAre(other.info.id));
    EXPECT_EQ(count(query), 1);
    query.requeued = true;
    EXPECT_THAT(list(query), UnorderedElementsAre(failed.info.id, other.info.id));
    EXPECT_EQ(count(query), 2);
  }
  EXPECT_THAT(list({.finished = true, .key = "k"}), IsEmpty());
  EXPECT_THAT(list({.finished = true, .key = "k", .requeued = true}), ElementsAre(failed.info.id));
  EXPECT_EQ(count({.finished = true, .finished_at = {end, {}}, .requeued = true}), 0);
  EXPECT_THAT(list({}), ElementsAre(fresh)) << "what is to be done is listed as ever";
  EXPECT_THAT(list({.requeued = true}), ElementsAre(fresh));
}

TEST_P(StoreConformance, PagesAreFullAlsoWhereManyWereRequeued) {
  std::vector<TaskId> kept;
  for (const TaskRecord& task : claim_all(insert_many(30, a_task()))) settle(finish(task, Outcome::exhausted));
  const std::vector<TaskId> all = list({.finished = true});
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (i % 3 == 0) {
      kept.push_back(all[i]);
    } else {
      EXPECT_TRUE(requeue(all[i]));
    }
  }
  TaskQuery query{.name_space = kNamespace, .finished = true, .outcome = Outcome::exhausted, .limit = 4};
  std::vector<TaskId> seen;
  for (auto page = list(query); !page.empty(); page = list(query)) {
    EXPECT_EQ(page.size(), std::min<std::size_t>(4, kept.size() - seen.size()));
    seen.insert(seen.end(), page.begin(), page.end());
    query.after = seen.back();
  }
  EXPECT_EQ(seen, kept);
}

TEST_P(StoreConformance, FinishedTasksAreListedByTheTimeOfTheirEnd) {
  const TaskRecord early = finished(a_task());
  clock().advance(10s);
  const TimePoint begin = now();
  const TaskRecord first = finished(a_task());
  clock().advance(1h);
  const TaskRecord last = finished(a_task());
  const TimePoint end = now() + 1ms;
  clock().advance(1ms);
  const TaskRecord late = finished(a_task());
  const auto ended = [&](std::optional<TimePoint> from, std::optional<TimePoint> until) {
    const TaskQuery query{.finished = true, .finished_at = {from, until}};
    const auto ids = list(query);
    EXPECT_EQ(count(query), static_cast<std::int64_t>(ids.size()));
    return ids;
  };
  EXPECT_THAT(ended(begin, end), ElementsAre(first.info.id, last.info.id));
  EXPECT_THAT(ended(begin, end - 1ms), ElementsAre(first.info.id)) << "the end is not part of it";
  EXPECT_THAT(ended(begin + 1ms, end), ElementsAre(last.info.id)) << "the beginning is";
  EXPECT_THAT(ended(std::nullopt, begin), ElementsAre(early.info.id));
  EXPECT_THAT(ended(end, std::nullopt), ElementsAre(late.info.id));
  EXPECT_THAT(ended(end, begin), IsEmpty());
}

TEST_P(StoreConformance, ATimeOfTheEndReachesOverMonths) {
  std::vector<TaskId> ids;
  std::vector<TimePoint> ends;
  for (int month = 0; month < 3; ++month) {
    ids.push_back(finished(a_task()).info.id);
    ends.push_back(now());
    clock().advance(31 * 24h);
  }
  EXPECT_EQ(list({.finished = true, .finished_at = {ends[0], ends[2] + 1ms}}), ids);
  EXPECT_THAT(list({.finished = true, .finished_at = {ends[0] + 1ms, ends[2]}}), ElementsAre(ids[1]));
  EXPECT_THAT(list({.finished = true, .finished_at = {ends[2] + 1ms, {}}}), IsEmpty());
}

TEST_P(StoreConformance, LiveTasksHaveNoEndTime) {
  insert(a_task());
  EXPECT_THAT(list({.finished_at = {now() - 1h, now() + 1h}}), IsEmpty());
  EXPECT_EQ(count({.finished_at = {{}, now() + 1h}}), 0);
}

TEST_P(StoreConformance, TasksAreListedByTheTimeTheyWereStored) {
  for (const bool finished_ones : {false, true}) {
    start({});
    const auto made = [&](const NewTask& task) { return finished_ones ? finished(task) : insert(task); };
    made(a_task());
    clock().advance(1s);
    const TimePoint then = now();
    const TaskRecord match = made(a_task());
    clock().advance(1s);
    made(a_task());
    const TaskQuery query{.finished = finished_ones, .created_at = {then, then + 1s}};
    EXPECT_THAT(list(query), ElementsAre(match.info.id));
    EXPECT_EQ(count(query), 1);
  }
}

// Ids do not go back as far as the clock, or not at all, but the time of a task does.
TEST_P(StoreConformance, ATaskStoredAfterTheClockWasSetBackIsListedByTheTimeItWasStored) {
  for (const bool finished_ones : {false, true}) {
    start({});
    const auto made = [&](const NewTask& task) { return finished_ones ? finished(task) : insert(task); };
    const TaskRecord before = made(a_task());
    for (const Millis back : {Millis{5min}, Millis{3h}}) {
      clock().set_wall(before.info.created_at - back);
      const TaskRecord match = made(a_task());
      const TimePoint then = match.info.created_at;
      ASSERT_EQ(then, before.info.created_at - back);
      const TaskQuery query{.finished = finished_ones, .created_at = {then, then + 1s}};
      EXPECT_THAT(list(query), ElementsAre(match.info.id));
      EXPECT_EQ(count(query), 1);
    }
  }
}

TEST_P(StoreConformance, TimeHandlerAndOutcomeRestrictTogetherPageByPage) {
  std::vector<TaskId> wanted;
  const TimePoint begin = now() + 3s;
  for (int i = 0; i < 12; ++i) {
    const Outcome outcome = i % 2 == 0 ? Outcome::exhausted : Outcome::succeeded;
    const TaskRecord task = finished(a_task().handler(i % 3 == 0 ? "pay" : "ship"), outcome);
    if (i >= 3 && i % 2 == 0 && i % 3 != 0) wanted.push_back(task.info.id);
    clock().advance(1s);
  }
  TaskQuery query{
      .finished = true, .handler = "ship", .outcome = Outcome::exhausted, .finished_at = {begin, {}}, .limit = 2};
  std::vector<TaskId> seen;
  for (auto page = list(query); !page.empty(); page = list(query)) {
    seen.insert(seen.end(), page.begin(), page.end());
    query.after = seen.back();
  }
  EXPECT_EQ(seen, wanted);
}

TEST_P(StoreConformance, ATaskThatWaitsForItsCallbackIsListedByItsOutcome) {
  const TaskRecord ran = running(a_task());
  insert(a_task());
  settle(advance(ran, Stage::on_final_failure, Outcome::exhausted));
  EXPECT_THAT(list({.outcome = Outcome::exhausted}), ElementsAre(ran.info.id));
  EXPECT_EQ(count({.outcome = Outcome::exhausted}), 1);
}

TEST_P(StoreConformance, PagesGoOnAfterTheLastId) {
  const auto all = ids_of(insert_many(10, a_task()));
  EXPECT_EQ(list({.limit = 4}), (std::vector<TaskId>{all.begin(), all.begin() + 4}));
  EXPECT_EQ(list({.after = all[3], .limit = 4}), (std::vector<TaskId>{all.begin() + 4, all.begin() + 8}));
  EXPECT_EQ(list({.after = all[7], .limit = 4}), (std::vector<TaskId>{all.begin() + 8, all.end()}));
  EXPECT_THAT(list({.after = all[9], .limit = 4}), IsEmpty());
}

TEST_P(StoreConformance, PagesOfHistoryGoOnAfterTheLastId) {
  std::vector<Settlement> done;
  for (const TaskRecord& task : claim_all(insert_many(7, a_task()))) done.push_back(finish(task));
  must(store().settle(done));

  std::vector<TaskId> seen;
  for (auto page = list({.finished = true, .limit = 3}); !page.empty();
       page = list({.finished = true, .after = seen.back(), .limit = 3})) {
    EXPECT_LE(page.size(), 3U);
    seen.insert(seen.end(), page.begin(), page.end());
  }
  EXPECT_THAT(seen, SizeIs(7));
  EXPECT_TRUE(std::is_sorted(seen.begin(), seen.end()));
}

TEST_P(StoreConformance, PagesHoldOnlyMatches) {
  for (int i = 0; i < 12; ++i) insert(a_task().handler(i % 3 == 0 ? "pay" : "ship"));
  const auto first = list({.handler = "pay", .limit = 3});
  EXPECT_THAT(first, SizeIs(3));
  EXPECT_THAT(list({.handler = "pay", .after = first.back(), .limit = 3}), SizeIs(1));
}

TEST_P(StoreConformance, ThePageSizeMayBeNothingOrWithoutEnd) {
  insert_many(3, a_task());
  EXPECT_THAT(list({.limit = 0}), IsEmpty());
  EXPECT_THAT(list({.limit = std::numeric_limits<std::size_t>::max()}), SizeIs(3));
}

TEST_P(StoreConformance, CountLooksAtNoPage) {
  const auto all = ids_of(insert_many(5, a_task()));
  EXPECT_EQ(count({.after = all[2], .limit = 1}), 5);
  EXPECT_EQ(count({.limit = 0}), 5);
}

}  // namespace
}  // namespace easyretry::test
