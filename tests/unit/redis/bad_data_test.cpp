// Corrupted or manually edited keys of a store harm only the tasks under these keys.

#include <tuple>
#include <utility>

#include "support/endings.h"
#include "unit/redis/support.h"

namespace easyretry::storage {
namespace {

using RedisBadData = RedisStoreTest;

// A task of this shard, of two.
task::NewTask in_shard(int shard) {
  for (;;) {
    task::NewTask task = a_task();
    if (task::shard_for("", task.key, 2) == ShardId{static_cast<std::uint16_t>(shard)}) return task;
  }
}

TEST_F(RedisBadData, AWrongTypeInOneShardIsReportedAndDoesNotAffectTheOther) {
  run({"SET", "{easyretry}:due:0:shop", "mine"});
  const auto refused = insert(*store, in_shard(0));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::invalid_argument);
  EXPECT_THAT(refused.error().detail, AllOf(HasSubstr("{easyretry}:due:0:shop"), HasSubstr("another prefix=")));
  EXPECT_EQ(store->count({}).value(), 0) << "nothing of it is stored";

  const Ticket good = stored(*store, in_shard(1));
  EXPECT_THAT(loaded(*store), ElementsAre(good.id));
  EXPECT_TRUE(finish(*store, claimed(*store, {good}).at(0)));
}

TEST_F(RedisBadData, ABatchThatCannotBeStoredWholeLeavesNothingBehind) {
  run({"SET", "{easyretry}:due:1:shop", "mine"});
  const std::vector<task::NewTask> batch{in_shard(0), in_shard(1), in_shard(0)};
  EXPECT_FALSE(store->insert(batch));
  for (const char* key :
       {"{easyretry}:due:0:shop", "{easyretry}:body", "{easyretry}:keys:shop", "{easyretry}:counts:shop"}) {
    EXPECT_EQ(run({"EXISTS", key}), "0") << key;
  }
}

TEST_F(RedisBadData, ANamespaceWhoseKeysHaveGoneWrongLeavesNothingOfABatchInAnother) {
  run({"SET", "{easyretry}:keys:zoo", "mine"});
  const std::vector<task::NewTask> batch{a_task(), a_task().name_space("zoo")};
  EXPECT_FALSE(store->insert(batch));
  for (const char* key : {"{easyretry}:keys:shop", "{easyretry}:body"}) EXPECT_EQ(run({"EXISTS", key}), "0") << key;
}

TEST_F(RedisBadData, ABatchThatCannotBeStoredWholeLeavesTheLiveTasksThatItMet) {
  const task::NewTask live = in_shard(0);
  const Ticket there = stored(*store, live);
  run({"SET", "{easyretry}:due:1:shop", "mine"});
  const std::vector<task::NewTask> batch{live, in_shard(0), in_shard(1)};
  EXPECT_FALSE(store->insert(batch));
  const auto met = insert(*store, live);
  ASSERT_TRUE(met) << met.error().detail;
  EXPECT_FALSE(met->tasks[0].created);
  EXPECT_EQ(met->tasks[0].id, there.id);
  EXPECT_THAT(loaded(*store), ElementsAre(there.id));
}

TEST_F(RedisBadData, TasksOfACorruptedShardAreNotLoadedAndBlockNoOthers) {
  const Ticket bad = stored(*store, in_shard(0));
  const Ticket good = stored(*store, in_shard(1));
  run({"SET", "{easyretry}:due:0:shop", "mine"});
  EXPECT_THAT(loaded(*store), ElementsAre(good.id));
  EXPECT_THAT(store->find({&bad.id, 1}).value(), SizeIs(1)) << "still shown";
  run({"SET", "{easyretry}:due:1:shop", "mine"});
  const ShardCursor all[] = {{ShardId{0}}, {ShardId{1}}};
  EXPECT_FALSE(store->load({.name_space = test::kNamespace, .from = all}))
      << "where there is no shard left, it is said";
}

TEST_F(RedisBadData, ASettlementThatCannotBeStoredIsRefusedAsAWholeSoThatItsBatchCanBeHalved) {
  const Ticket bad = stored(*store, in_shard(0));
  const Ticket good = stored(*store, in_shard(1));
  const auto won = claimed(*store, {bad, good});
  ASSERT_THAT(won, SizeIs(2));
  run({"SET", "{easyretry}:due:0:shop", "mine"});
  std::vector<Settlement> both(2);
  for (std::size_t i = 0; i < 2; ++i) both[i].ticket = {won[i].info.id, won[i].info.version};
  for (int order = 0; order < 2; ++order) {
    const auto refused = store->settle(both);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Errc::invalid_argument);
    EXPECT_EQ(store->count({}).value(), 2) << "none of both is ended";
    EXPECT_EQ(run({"ZCARD", "{easyretry}:due:1:shop"}), "1") << "nor half of one";
    std::swap(both[0], both[1]);
  }
  EXPECT_TRUE(finish(*store, won[0].info.id == good.id ? won[0] : won[1]));
}

TEST_F(RedisBadData, ATruncatedRecordIsNeitherLoadedNorWonAndBlocksNoOthers) {
  for (const std::string& rest : {std::string{"x"}, std::string(93, '\xff')}) {
    const Ticket bad = stored(*store, a_task());
    const Ticket good = stored(*store, a_task());
    run({"HSET", "{easyretry}:meta", id_bytes(bad.id), rest});
    EXPECT_THAT(loaded(*store), ElementsAre(good.id));
    const auto won = claimed(*store, {bad, good});
    ASSERT_THAT(won, SizeIs(1));
    EXPECT_TRUE(finish(*store, won[0]));
    EXPECT_THAT(store->find({&bad.id, 1}).value(), SizeIs(1)) << "still shown";
    EXPECT_TRUE(store->end(test::endings({&bad.id, 1})).value().applied.at(0)) << "and a user can end it";
  }
}

TEST_F(RedisBadData, ATruncatedBodyIsNotWonAndBlocksNoOthers) {
  const Ticket bad = stored(*store, a_task());
  const Ticket good = stored(*store, a_task());
  run({"HSET", "{easyretry}:body", id_bytes(bad.id), "short"});
  EXPECT_THAT(claimed(*store, {bad, good}), SizeIs(1));
  EXPECT_TRUE(store->list({}).has_value());
}

TEST_F(RedisBadData, ARecordOfAStateOrAVersionThatThereIsNotIsNeitherLoadedNorWon) {
  constexpr std::size_t kVersion = 0;
  constexpr std::size_t kState = 8;
  const std::string zero(8, '\0');  // as a number with a fraction
  for (const auto& [place, bytes, version] : {std::tuple{kState, std::string{"\7"}, 2}, {kVersion, zero + "\1", 0}}) {
    const Ticket ticket = stored(*store, a_task());
    ASSERT_THAT(claimed(*store, {ticket}), SizeIs(1));
    std::string meta = run({"HGET", "{easyretry}:meta", id_bytes(ticket.id)});
    run({"HSET", "{easyretry}:meta", id_bytes(ticket.id), meta.replace(place, bytes.size(), bytes)});
    EXPECT_THAT(loaded(*store), IsEmpty());
    EXPECT_THAT(claimed(*store, {{ticket.id, version}}), IsEmpty());
  }
}

TEST_F(RedisBadData, AKeyWhoseTaskIsGoneIsFreeAgain) {
  const Ticket gone = stored(*store, a_task().key("order-1"));
  run({"HDEL", "{easyretry}:body", id_bytes(gone.id)});
  const auto again = insert(*store, a_task().key("order-1"));
  ASSERT_TRUE(again) << again.error().detail;
  EXPECT_TRUE(again->tasks[0].created);
}

TEST_F(RedisBadData, ForeignEntriesAmongTheDueTasksArePassedOver) {
  const Ticket good = stored(*store, in_shard(0));
  for (const char* member : {"mine", "something that is longer", ""})
    run({"ZADD", "{easyretry}:due:0:shop", "1", member});
  const ShardCursor shard[] = {{ShardId{0}}};
  const auto found = store->load({.name_space = test::kNamespace, .from = shard}).value().tasks;
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].id, good.id);
  EXPECT_EQ(found[0].version, 1);
}

TEST_F(RedisBadData, ForeignKeysBesideAStoreAreLeftAlone) {
  run({"SET", "{easyretry}:mine", "1"});
  run({"SET", "easyretry", "2"});
  finish(*store, claimed(*store, {stored(*store, a_task())}).at(0));
  store->keep().value();
  EXPECT_EQ(run({"GET", "{easyretry}:mine"}), "1");
  EXPECT_EQ(run({"GET", "easyretry"}), "2");
}

TEST_F(RedisBadData, SomethingElseUnderTheNameOfAStoreRefusesToOpen) {
  run({"SET", "{other}:store", "mine"});
  EXPECT_THAT(opening_error(url("&prefix=other")), AllOf(HasSubstr("WRONGTYPE"), HasSubstr("another prefix=")));
}

TEST_F(RedisBadData, ScriptsThatTheServerHasForgottenAreGivenAgain) {
  const Ticket ticket = stored(*store, a_task());
  run({"SCRIPT", "FLUSH"});
  EXPECT_THAT(claimed(*store, {ticket}), SizeIs(1));
}

// Numbers that were learned from the former store would stand for other names.
TEST_F(RedisBadData, AFlushedStoreIsReportedAsGoneOnceAndThenIsANewOne) {
  stored(*store, a_task().handler("pay"));
  run({"FLUSHDB"});
  const auto other = open_store(url(), system_clock());
  stored(*other, a_task().handler("ship"));
  const auto lost = insert(*store, a_task());
  ASSERT_FALSE(lost);
  EXPECT_EQ(lost.error().code, Errc::unavailable);
  EXPECT_THAT(lost.error().detail, HasSubstr("The tasks in it are lost"));
  const Ticket fresh = stored(*store, a_task().handler("pay"));
  EXPECT_EQ(store->find({&fresh.id, 1}).value().at(0).info.handler, "pay");
  EXPECT_EQ(other->find({&fresh.id, 1}).value().at(0).info.handler, "pay");
  EXPECT_EQ(store->count({}).value(), 2);
}

}  // namespace
}  // namespace easyretry::storage
