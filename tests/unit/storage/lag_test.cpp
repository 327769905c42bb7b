#include "storage/lag.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <easyretry/testing.h>

#include "storage/memory/memory_store.h"
#include "support/task_builder.h"
#include "task/task_id.h"

namespace easyretry::storage {
namespace {

using namespace std::chrono_literals;
using test::a_task;
using test::kNamespace;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

struct LagTest : ::testing::Test {
  ShardId insert(const task::NewTask& task) {
    const auto inserted = store.insert({&task, 1}).value().tasks.front();
    return task::shard_of(inserted.id, store.info().total_shards);
  }
  Lag look(std::size_t tasks_a_shard = 16) { return look_for_lag(store, kNamespace, tasks_a_shard).value(); }

  easyretry::testing::ManualClock clock;
  MemoryStore store{MemoryStoreOptions{}, clock};
};

TEST_F(LagTest, IsThatOfTheTaskThatHasBeenDueForLongest) {
  const ShardId shard = insert(a_task().key("a"));
  clock.advance(3s);
  insert(a_task().key("a2"));
  clock.advance(2s);
  const Lag lag = look();
  EXPECT_EQ(lag.shards.at(shard), 5s);
  EXPECT_THAT(lag.handlers, ElementsAre(Pair("pay", 5s)));
}

TEST_F(LagTest, IsReportedByHandler) {
  insert(a_task().handler("mail"));
  clock.advance(1s);
  insert(a_task().handler("pay"));
  clock.advance(1s);
  EXPECT_THAT(look().handlers, ElementsAre(Pair("mail", 2s), Pair("pay", 1s)));
}

TEST_F(LagTest, TasksThatAreNotDueOrOfAnotherNamespaceHaveNone) {
  insert(a_task().due_in(1h));
  insert(a_task().name_space("other"));
  clock.advance(1s);
  EXPECT_THAT(look().shards, IsEmpty());
}

TEST_F(LagTest, SaysWhetherEverythingDueWasLookedAt) {
  for (int i = 0; i < 200; ++i) insert(a_task());
  clock.advance(1s);
  EXPECT_TRUE(look(1000).complete);
  EXPECT_FALSE(look(1).complete);
}

struct LateTasksTest : LagTest {
  LateTasks late(Millis longest = 1h) { return look_for_late_tasks(store, kNamespace, longest).value(); }
  void insert_held(int number) {
    ASSERT_TRUE(store.pause(kNamespace, "held", "").value());
    std::vector<task::NewTask> many;
    for (int i = 0; i < number; ++i) many.push_back(a_task().handler("held"));
    ASSERT_TRUE(store.insert(many));
  }
};

TEST_F(LateTasksTest, AreSeenBehindThoseOfPausedHandlersAndThoseThatAreNotDue) {
  ASSERT_TRUE(store.pause(kNamespace, "held", "").value());
  for (int i = 0; i < 3000; ++i) insert(a_task().handler("held"));
  for (int i = 0; i < 3000; ++i) insert(a_task().handler("later").due_in(1h));
  insert(a_task().handler("pay"));
  clock.advance(7s);
  EXPECT_THAT(late().handlers, ElementsAre(Pair("pay", 7s)));
  EXPECT_TRUE(late().complete);
}

TEST_F(LateTasksTest, AreThoseThatNoInstanceRuns) {
  EXPECT_THAT(late().handlers, IsEmpty());
  insert(a_task().handler("pay"));
  insert(a_task().handler("mail").name_space("other"));
  clock.advance(1s);
  EXPECT_THAT(late().handlers, ElementsAre(Pair("pay", 1s)));
}

TEST_F(LateTasksTest, AreSeenBehindVeryManyOfPausedHandlers) {
  insert_held(140'000);
  clock.advance(1s);
  insert(a_task().handler("pay"));
  clock.advance(7s);
  EXPECT_THAT(late().handlers, ElementsAre(Pair("pay", 7s)));
  EXPECT_TRUE(late().complete);
}

TEST_F(LateTasksTest, AreNotAllThereWhenTheTimeWasNotEnough) {
  insert_held(20'000);
  clock.advance(1s);
  EXPECT_FALSE(late(0s).complete);
}

TEST_F(LateTasksTest, OfSeveralHandlersInOneShardAreAllNamed) {
  for (int i = 0; i < 2000; ++i) insert(a_task().handler("mail"));
  clock.advance(1s);
  for (int i = 0; i < 300; ++i) insert(a_task().handler("pay"));
  clock.advance(1s);
  EXPECT_THAT(late().handlers, ElementsAre(Pair("mail", 2s), Pair("pay", 1s)));
}

}  // namespace
}  // namespace easyretry::storage
