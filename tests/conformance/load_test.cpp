#include <algorithm>
#include <limits>
#include <map>
#include <set>

#include "conformance/store_conformance.h"

namespace easyretry::test {
namespace {

using storage::DueTask;

std::vector<TaskId> loaded_ids(const LoadReply& reply) {
  std::vector<TaskId> ids;
  for (const DueTask& task : reply.tasks) ids.push_back(task.id);
  return ids;
}

TEST_P(StoreConformance, LoadGivesTheTicketDueTimeAndHandlerOfATask) {
  const TaskRecord task = insert(a_task().handler("pay"));
  const LoadReply reply = load_shard_of(task);
  ASSERT_THAT(reply.tasks, SizeIs(1));
  EXPECT_EQ(reply.tasks[0], ticket(task));
  EXPECT_EQ(reply.tasks[0].due, task.info.next_at);
  EXPECT_EQ(reply.handlers.at(reply.tasks[0].handler), "pay");
}

TEST_P(StoreConformance, LoadTellsWhichTasksWereAttemptedBefore) {
  const auto retried = [&](const TaskRecord& task) {
    for (const DueTask& one : load_shard_of(task).tasks) {
      if (one.id == task.info.id) return one.retried;
    }
    ADD_FAILURE() << "it was not loaded";
    return false;
  };
  const TaskRecord task = insert(a_task());
  EXPECT_FALSE(retried(task));
  EXPECT_TRUE(settle(hand_back(claim(task))));
  EXPECT_FALSE(retried(task)) << "an attempt that was handed back does not count";
  EXPECT_TRUE(settle(retry(claim(again(task)), 0ms)));
  EXPECT_TRUE(retried(task));
  EXPECT_TRUE(settle(advance(claim(again(task)), Stage::on_final_failure, Outcome::exhausted)));
  EXPECT_FALSE(retried(task)) << "a callback is no attempt";

  NewTask failed = a_task();
  failed.attempts = 1;
  failed.error = "bank busy";
  EXPECT_TRUE(retried(insert(failed))) << "its first attempt was made before it was stored";

  const TaskRecord held = running(a_task());
  clock().advance(kLease);
  EXPECT_TRUE(retried(held)) << "its worker died";

  EXPECT_FALSE(retried(record(requeue(finished(a_task()).info.id).value())));
}

TEST_P(StoreConformance, LoadCarriesTheStoresClock) {
  clock().advance(1234ms);
  EXPECT_EQ(load({}).now, now());
  EXPECT_EQ(load(every_shard()).now, now());
}

TEST_P(StoreConformance, LoadOfNoShardGivesNothing) {
  insert(a_task());
  const LoadReply reply = load({});
  EXPECT_THAT(reply.tasks, IsEmpty());
  EXPECT_THAT(reply.handlers, IsEmpty());
  EXPECT_THAT(reply.more, IsEmpty());
}

TEST_P(StoreConformance, LoadOfAnEmptyStoreGivesNothing) {
  const LoadReply reply = load(every_shard(), 24h);
  EXPECT_THAT(reply.tasks, IsEmpty());
  EXPECT_THAT(reply.more, IsEmpty());
}

TEST_P(StoreConformance, LoadChangesNothing) {
  const TaskRecord pending = insert(a_task());
  const TaskRecord held = running(a_task());
  load(every_shard());
  expect_same(again(pending), pending);
  expect_same(again(held), held);
}

TEST_P(StoreConformance, LoadGivesOnlyTheShardsAskedFor) {
  const auto tasks = insert_many(50, a_task());
  const ShardId asked = shard(tasks[0]);
  std::vector<TaskId> wanted;
  for (const TaskRecord& task : tasks) {
    if (shard(task) == asked) wanted.push_back(task.info.id);
  }
  EXPECT_THAT(loaded_ids(load({{.shard = asked}})), UnorderedElementsAreArray(wanted));
  EXPECT_THAT(loaded_ids(load(every_shard())), SizeIs(50));
}

TEST_P(StoreConformance, LoadSeesOnlyItsOwnSpace) {
  const TaskRecord ours = insert(a_task().name_space("shop").business("order", "42"));
  const TaskRecord theirs = insert(a_task().name_space("bank").business("order", "42"));
  EXPECT_THAT(loaded_ids(load(every_shard(), 0ms, 10, "shop")), ElementsAre(ours.info.id));
  EXPECT_THAT(loaded_ids(load(every_shard(), 0ms, 10, "bank")), ElementsAre(theirs.info.id));
  EXPECT_THAT(loaded_ids(load(every_shard(), 0ms, 10, "nobody")), IsEmpty());
}

TEST_P(StoreConformance, TheWindowIncludesItsEdge) {
  const TaskRecord task = insert(a_task().due_in(5s));
  EXPECT_THAT(load_shard_of(task, 4999ms).tasks, IsEmpty());
  EXPECT_THAT(load_shard_of(task, 5s).tasks, SizeIs(1));
}

TEST_P(StoreConformance, WithoutLookingAheadOnlyDueTasksAreLoaded) {
  const TaskRecord task = insert(a_task().due_in(1ms));
  EXPECT_THAT(load_shard_of(task, 0ms).tasks, IsEmpty());
  clock().advance(1ms);
  EXPECT_THAT(load_shard_of(task, 0ms).tasks, SizeIs(1));
}

TEST_P(StoreConformance, ANegativeWindowFindsOnlyTasksOverdueByThatMuch) {
  const TaskRecord task = insert(a_task());
  clock().advance(59s);
  EXPECT_THAT(load_shard_of(task, -1min).tasks, IsEmpty());
  clock().advance(1s);
  EXPECT_THAT(load_shard_of(task, -1min).tasks, SizeIs(1));
}

TEST_P(StoreConformance, AnEndlessWindowFindsEverything) {
  const TaskRecord task = insert(a_task().due_at(TimePoint{std::chrono::sys_days{std::chrono::year{9999} / 12 / 31}}));
  EXPECT_THAT(load_shard_of(task, Millis::max()).tasks, SizeIs(1));
  EXPECT_THAT(load_shard_of(task, Millis::min()).tasks, IsEmpty());
}

TEST_P(StoreConformance, AShardIsLoadedInTheOrderItFallsDue) {
  start({.total_shards = 1});
  const TaskRecord third = insert(a_task().due_in(3s));
  const TaskRecord first = insert(a_task().due_in(-1h));
  const TaskRecord second = insert(a_task().due_in(2s));
  EXPECT_THAT(loaded_ids(load(every_shard(), 5s)), ElementsAre(first.info.id, second.info.id, third.info.id));
}

TEST_P(StoreConformance, TasksDueTogetherAreLoadedById) {
  start({.total_shards = 1});
  auto ids = ids_of(insert_many(20, a_task()));
  std::sort(ids.begin(), ids.end());
  EXPECT_EQ(loaded_ids(load(every_shard())), ids);
}

TEST_P(StoreConformance, ATaskMovesInTheOrderWhenItIsRetried) {
  start({.total_shards = 1});
  const TaskRecord first = insert(a_task());
  const TaskRecord second = insert(a_task().due_in(1s));
  settle(retry(claim(first), 2s));
  EXPECT_THAT(loaded_ids(load(every_shard(), 5s)), ElementsAre(second.info.id, first.info.id));
}

TEST_P(StoreConformance, HandlersAreNamedOnce) {
  for (int i = 0; i < 6; ++i) insert(a_task().handler(i % 2 == 0 ? "pay" : "ship"));
  const LoadReply reply = load(every_shard());
  EXPECT_THAT(reply.handlers, UnorderedElementsAre("pay", "ship"));
  for (const DueTask& task : reply.tasks) {
    EXPECT_EQ(reply.handlers.at(task.handler), record(task.id).info.handler);
  }
}

TEST_P(StoreConformance, HandlersOfTasksThatAreNotLoadedAreNotNamed) {
  insert(a_task().handler("later").due_in(1h));
  running(a_task().handler("held"));
  EXPECT_THAT(load(every_shard()).handlers, IsEmpty());
}

TEST_P(StoreConformance, LoadSkipsTasksWithALiveLease) {
  const TaskRecord held = running(a_task());
  EXPECT_THAT(load_shard_of(held, 24h).tasks, IsEmpty());
  clock().advance(kLease - 1ms);
  EXPECT_THAT(load_shard_of(held, 24h).tasks, IsEmpty());
}

TEST_P(StoreConformance, LoadFindsATaskWhoseLeaseRanOut) {
  const TaskRecord abandoned = running(a_task());
  clock().advance(kLease);
  const LoadReply reply = load_shard_of(abandoned);
  ASSERT_THAT(reply.tasks, SizeIs(1));
  EXPECT_EQ(reply.tasks[0], ticket(abandoned));
}

TEST_P(StoreConformance, LoadSkipsFinishedTasks) {
  const TaskRecord done = finished(a_task());
  const TaskRecord cancelled = insert(a_task());
  cancel(cancelled.info.id);
  EXPECT_THAT(load(every_shard(), 24h).tasks, IsEmpty());
}

TEST_P(StoreConformance, ALimitHoldsForAllShardsTogether) {
  start({.total_shards = 4});
  const auto wanted = ids_of(insert_many(50, a_task()));
  EXPECT_THAT(load_all(0ms, 2), UnorderedElementsAreArray(wanted));
}

// All of a customer's tasks are in one shard: a page must not stay empty because of the other shards.
TEST_P(StoreConformance, AShardFullOfTasksIsReadToItsEnd) {
  const auto wanted = ids_of(insert_many(50, a_task().business("order", "42")));
  EXPECT_THAT(load_all(0ms, 3), UnorderedElementsAreArray(wanted));
}

TEST_P(StoreConformance, APageThatIsNotFullIsTheLast) {
  start({.total_shards = 1});
  insert_many(3, a_task());
  EXPECT_THAT(load(every_shard(), 0ms, 4).more, IsEmpty());
}

TEST_P(StoreConformance, AFullPageTellsWhereToGoOn) {
  start({.total_shards = 1});
  insert_many(3, a_task());
  const LoadReply reply = load(every_shard(), 0ms, 3);
  ASSERT_THAT(reply.more, SizeIs(1));
  EXPECT_EQ(reply.more[0].id, reply.tasks.back().id);
  EXPECT_THAT(load(reply.more, 0ms, 3).tasks, IsEmpty());
}

TEST_P(StoreConformance, PagesCoverTasksThatAreDueTogetherOnceEach) {
  start({.total_shards = 2});
  auto wanted = ids_of(insert_many(25, a_task()));
  for (const TaskRecord& task : insert_many(10, a_task().due_in(1ms))) wanted.push_back(task.info.id);

  EXPECT_THAT(load_all(1ms, 3), UnorderedElementsAreArray(wanted));
}

// Some retries may keep the place that they had in the store's order, and some may not.
TEST_P(StoreConformance, PagesCoverTasksThatWereRetriedOnceEach) {
  start({.total_shards = 1});
  std::vector<TaskId> wanted;
  for (const Millis delay : {0ms, 1ms, 900ms, 4000ms, 6000ms, 9000ms}) {
    for (const Millis due : {-120000ms, -3000ms, 0ms}) {
      const TaskRecord task = running(a_task().due_in(due));
      settle(retry(task, delay));
      wanted.push_back(task.info.id);
    }
    wanted.push_back(insert(a_task().due_in(delay)).info.id);
  }
  EXPECT_THAT(load_all(10s, 3), UnorderedElementsAreArray(wanted));
}

TEST_P(StoreConformance, TasksThatAreHeldTakeNoRoomInAPage) {
  start({.total_shards = 1});
  for (int i = 0; i < 5; ++i) running(a_task().due_in(-1h));
  const TaskRecord free = insert(a_task());
  EXPECT_THAT(loaded_ids(load(every_shard(), 0ms, 1)), ElementsAre(free.info.id));
}

TEST_P(StoreConformance, ALimitMayBeLargerThanAnyTable) {
  const TaskRecord task = insert(a_task());
  const LoadReply reply = load(every_shard(), 0ms, std::numeric_limits<std::size_t>::max());
  EXPECT_THAT(loaded_ids(reply), ElementsAre(task.info.id));
  EXPECT_THAT(reply.more, IsEmpty());
}

TEST_P(StoreConformance, ALimitOfNothingLoadsNothing) {
  insert(a_task());
  const LoadReply reply = load(every_shard(), 0ms, 0);
  EXPECT_THAT(reply.tasks, IsEmpty());
  EXPECT_THAT(reply.more, IsEmpty());
}

TEST_P(StoreConformance, AShardThatDoesNotExistIsEmpty) {
  insert(a_task());
  EXPECT_THAT(load({{.shard = ShardId{4095}}}).tasks, IsEmpty());
}

TEST_P(StoreConformance, ThousandsOfTasksLoadInOnePage) {
  start({.total_shards = 4});
  std::vector<NewTask> tasks;
  for (int i = 0; i < 2000; ++i) tasks.push_back(a_task());
  must(store().insert(tasks));
  const auto loaded = loaded_ids(load(every_shard(), 0ms, 5000));
  EXPECT_EQ((std::set<TaskId>{loaded.begin(), loaded.end()}.size()), tasks.size());
  EXPECT_EQ(loaded.size(), tasks.size());
}

}  // namespace
}  // namespace easyretry::test
