#include <random>

#include "conformance/store_conformance.h"
#include "support/eventually.h"
#include "support/together.h"

namespace easyretry::test {
namespace {

using std::chrono::days;
using std::chrono::sys_days;
using storage::Store;

constexpr sys_days kToday{std::chrono::year{2026} / 3 / 10};
static_assert(std::chrono::floor<days>(kStart) == kToday);

Counts counts(Store& store, std::string_view name_space = kNamespace) {
  return must(store.counts(name_space));
}
HandlerCounts paid(Store& store) {
  return counts(store)["pay"];
}
Tally total(Store& store) {
  return paid(store).total;
}

// Until there is nothing left to do.
void fold(Store& store) {
  while (must(store.fold_counts())) {
  }
}
void keep(Store& store) {
  while (must(store.keep()).more) {
  }
}

void expect_as_counted_by_hand(Store& store) {
  for (const auto& [handler, counted] : counts(store)) {
    TaskQuery query{.name_space = kNamespace, .handler = handler};
    EXPECT_EQ(counted.live(), must(store.count(query))) << handler;
    query.finished = query.requeued = true;
    EXPECT_EQ(counted.total.ended_in_all(), must(store.count(query))) << handler;
    for (const auto& [outcome, tasks] : counted.total.ended) {
      query.outcome = outcome;
      EXPECT_EQ(tasks, must(store.count(query))) << handler << " " << to_string(outcome);
    }
  }
}

TEST_P(StoreConformance, CountsAreEmptyBeforeAnythingIsStored) {
  EXPECT_THAT(counts(store()), IsEmpty());
}

TEST_P(StoreConformance, AStoredTaskIsCountedForItsHandlerAndDay) {
  insert(a_task());
  insert_many(3, a_task().handler("ship"));
  const Counts both = counts(store());
  ASSERT_THAT(both, SizeIs(2));
  EXPECT_EQ(both.at("pay").live(), 1);
  EXPECT_EQ(both.at("ship").live(), 3);
  EXPECT_EQ(both.at("ship").total, (Tally{.stored = 3}));
  EXPECT_EQ(both.at("ship").days, (std::map<sys_days, Tally>{{kToday, {.stored = 3}}}));
}

TEST_P(StoreConformance, CountsOfANamespaceAreItsOwn) {
  insert(a_task());
  insert(a_task().name_space("bank"));
  insert(a_task().name_space("bank").handler("o'hare\\ \xE2\x82\xAC"));
  EXPECT_THAT(counts(store()), SizeIs(1));
  EXPECT_THAT(counts(store(), "bank"), SizeIs(2));
  EXPECT_EQ(counts(store(), "bank").at("o'hare\\ \xE2\x82\xAC").live(), 1);
  EXPECT_THAT(counts(store(), "nobody"), IsEmpty());
}

TEST_P(StoreConformance, ATaskWhoseKeyIsLiveIsNotCountedAgain) {
  NewTask task = a_task();
  insert(task);
  put(task);
  task.on_duplicate = OnDuplicate::update_policy;
  put(task);
  const NewTask other = a_task();
  const std::vector<NewTask> twice{other, other, task};
  must(store().insert(twice));
  EXPECT_EQ(total(store()).stored, 2);
}

TEST_P(StoreConformance, ARefusedBatchCountsNothing) {
  NewTask task = a_task();
  insert(task);
  task.on_duplicate = OnDuplicate::reject;
  const std::vector<NewTask> batch{a_task(), task, a_task()};
  EXPECT_FALSE(store().insert(batch));
  EXPECT_EQ(total(store()).stored, 1);
  insert(a_task());
  EXPECT_EQ(total(store()).stored, 2) << "nor the next one for it";
}

TEST_P(StoreConformance, EveryEndIsCountedNoMatterWhatHistoryKeeps) {
  for (const History history : {History::all, History::failures, History::none}) {
    start({.history = history});
    const auto tasks = claim_all(insert_many(6, a_task()));
    std::vector<Settlement> ends;
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      ends.push_back(finish(tasks[i], i < 3 ? Outcome::succeeded : i < 5 ? Outcome::exhausted : Outcome::parked));
      if (i % 2 == 0) continue;  // both a settlement that says whose task it is and one that does not are counted
      ends.back().name_space = tasks[i].info.name_space;
      ends.back().handler = tasks[i].info.handler;
    }
    must(store().settle(ends));
    EXPECT_TRUE(cancel(insert(a_task()).info.id));
    EXPECT_EQ(total(store()).ended,
              (std::map<Outcome, std::int64_t>{
                  {Outcome::succeeded, 3}, {Outcome::exhausted, 2}, {Outcome::parked, 1}, {Outcome::cancelled, 1}}))
        << to_string(history);
    EXPECT_EQ(paid(store()).live(), 0);
  }
}

TEST_P(StoreConformance, ATaskThatContinuesIsNotCountedAsEnded) {
  settle(retry(running(a_task()), 1s));
  settle(advance(running(a_task()), Stage::on_success, Outcome::succeeded));
  settle(hand_back(running(a_task())));
  renew(running(a_task()), kLease);
  EXPECT_TRUE(cancel(running(a_task()).info.id, kCancelledAndTold));
  EXPECT_EQ(total(store()), (Tally{.stored = 5}));
}

TEST_P(StoreConformance, AnEndIsCountedOnceHoweverOftenItIsSent) {
  const TaskRecord task = running(a_task());
  const std::vector<Settlement> twice{finish(task), finish(task, Outcome::rejected)};
  must(store().settle(twice));
  settle(finish(task));
  EXPECT_FALSE(cancel(task.info.id));
  const TaskRecord lost = running(a_task());
  clock().advance(kLease);
  claim(lost, "rescuer");
  settle(finish(lost));
  EXPECT_EQ(total(store()), (Tally{.stored = 2, .ended = {{Outcome::succeeded, 1}}}));
}

TEST_P(StoreConformance, ARequeuedTaskIsCountedAsStoredAgain) {
  const TaskRecord task = finished(a_task(), Outcome::exhausted);
  const std::vector<TaskId> twice{task.info.id, task.info.id, kUnknown};
  must(store().requeue(twice));
  EXPECT_EQ(total(store()), (Tally{.stored = 2, .ended = {{Outcome::exhausted, 1}}}));
  EXPECT_EQ(paid(store()).live(), 1);
}

TEST_P(StoreConformance, ATaskIsCountedOnTheDayItWasStoredAndOnTheDayItEnded) {
  const TaskRecord task = running(a_task());
  clock().advance(12h);
  settle(finish(task));
  EXPECT_EQ(paid(store()).days, (std::map<sys_days, Tally>{{kToday, {.stored = 1}},
                                                           {kToday + days{1}, {.ended = {{Outcome::succeeded, 1}}}}}));
}

TEST_P(StoreConformance, AddingUpChangesNoCount) {
  for (int i = 0; i < 5; ++i) {
    finished(a_task().handler(i % 2 == 0 ? "pay" : "ship"));
    insert(a_task());
    const Counts before = counts(store());
    if (i % 2 == 0) fold(store());
    keep(store());
    EXPECT_EQ(counts(store()), before);
  }
  EXPECT_EQ(total(store()).stored, 8);
}

TEST_P(StoreConformance, AfterFourHundredDaysADayIsCountedInTheTotalAlone) {
  finished(a_task());
  insert(a_task());
  const Tally before = total(store());
  fold(store());
  clock().advance(days{399});
  insert(a_task().handler("ship"));
  fold(store());
  clock().advance(days{1});
  keep(store());
  EXPECT_THAT(paid(store()).days, SizeIs(1)) << "the 400th day before today";
  for (int i = 0; i < 2; ++i) {
    clock().advance(days{1});
    keep(store());
    EXPECT_EQ(total(store()), before);
    EXPECT_THAT(paid(store()).days, IsEmpty());
    EXPECT_THAT(counts(store())["ship"].days, SizeIs(1));
  }
}

// All threads store, end, cancel, requeue and add up at the same time. If another one holds the row of a task, its
// settlement may be refused, and is made again, as an engine does.
TEST_P(StoreConformance, CountsAreRightAfterARandomRun) {
  const auto settled = [&](const Settlement& settlement) {
    ASSERT_TRUE(eventually([&] {
      const auto reply = store().settle({&settlement, 1});
      return reply || reply.error().code != Errc::unavailable;
    }));
  };
  const auto work = [&](int thread) {
    std::mt19937 dice{static_cast<unsigned>(thread)};
    for (int round = 0; round < 40; ++round) {
      const auto handler = dice() % 2 == 0 ? "pay" : "ship";
      std::vector<NewTask> tasks(1 + dice() % 4, a_task().handler(handler));
      for (NewTask& task : tasks) task.key = "key-" + std::to_string(dice() % 60);
      for (const Inserted& task : must(store().insert(tasks)).tasks) {
        const auto won = try_claim({task.id, task.version});
        if (!won) continue;
        if (dice() % 3 == 0) settled(retry(*won, 0ms));
        settled(finish(*won, dice() % 2 == 0 ? Outcome::succeeded : Outcome::exhausted));
        if (dice() % 3 == 0) requeue(task.id);
      }
      if (dice() % 4 == 0) {
        for (const TaskId id : list({.name_space = kNamespace, .limit = 3})) cancel(id);
      }
      if (dice() % 5 == 0) must(store().fold_counts());
    }
    return true;
  };
  together(4, work);
  expect_as_counted_by_hand(store());
  fold(store());
  expect_as_counted_by_hand(store());
  EXPECT_GT(total(store()).stored, 40);
}

TEST_P(DurableStore, CountsOutliveTheProcess) {
  finished(a_task());
  insert(a_task());
  const Counts before = counts(store());
  reopen();
  EXPECT_EQ(counts(store()), before);
  EXPECT_EQ(before.at("pay").live(), 1);
}

}  // namespace
}  // namespace easyretry::test
