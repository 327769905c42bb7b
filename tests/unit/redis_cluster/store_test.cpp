// A store in a cluster whose slots have moved, or are moving.

#include "unit/redis_cluster/support.h"

namespace easyretry::storage {
namespace {

// In the shared cluster, with slots that no other test uses.
class RedisClusterStore : public ::testing::Test {
 protected:
  std::string url(const std::string& options = "&shards=2&tags=6") const { return database.url() + options; }
  const std::string& prefix() const { return database.name(); }
  RedisCluster::Node another_than(const RedisCluster::Node& owner) const {
    for (const auto& node : cluster.primaries()) {
      if (node.id != owner.id) return node;
    }
    throw std::runtime_error("there is one primary alone");
  }
  // Begins to move the slot of the task to another primary.
  RedisCluster::Move begin_move_of(const task::NewTask& task) const {
    const int slot = slot_of_key(prefix(), task.key);
    return cluster.begin_move(slot, another_than(cluster.owner_of(slot)));
  }
  void move(const task::NewTask& task) const {
    const int slot = slot_of_key(prefix(), task.key);
    cluster.move(slot, another_than(cluster.owner_of(slot)));
  }

  const test::TestDatabase database{ServerKind::redis_cluster};
  const RedisCluster cluster{test::shared_server_port(ServerKind::redis_cluster)};
  const std::unique_ptr<Store> store = open_store(url(), system_clock());
};

TEST_F(RedisClusterStore, AKeyFindsItsLiveTaskInAnyShard) {
  const task::NewTask first = a_task().key("pay:1").business("order", "1");
  for (int i = 2; i < 10; ++i) {
    const task::NewTask again = a_task().key("pay:1").business("order", std::to_string(i));
    EXPECT_EQ(insert(*store, first).value().tasks[0].id, insert(*store, again).value().tasks[0].id);
  }
  EXPECT_EQ(store->count({}).value(), 1);
}

TEST_F(RedisClusterStore, ABatchThatMustNotMeetALiveKeyIsRefusedAsAWholeAcrossParts) {
  stored(*store, a_task().key("live"));
  std::vector<task::NewTask> batch(30, a_task());
  for (task::NewTask& task : batch) {
    task = a_task();
    task.on_duplicate = OnDuplicate::reject;
  }
  batch.back().key = "live";
  const auto refused = store->insert(batch);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::already_exists);
  EXPECT_EQ(store->count({}).value(), 1);
  batch.pop_back();
  EXPECT_THAT(store->insert(batch).value().tasks, SizeIs(29));
}

TEST_F(RedisClusterStore, TheSettingsItWasCreatedWithAreCheckedWhenItIsOpened) {
  EXPECT_THAT(opening_error(url("&shards=2&tags=12")), AllOf(HasSubstr("tags=6"), HasSubstr("tags=12")));
  EXPECT_THAT(opening_error(url("&shards=4&tags=6")), AllOf(HasSubstr("shards=2"), HasSubstr("shards=4")));
  EXPECT_EQ(stored_settings(url()).value().total_shards, "2");
  EXPECT_FALSE(stored_settings(database.url() + "x"));
}

TEST_F(RedisClusterStore, InvalidUrlsAreRefusedWithTheReason) {
  const std::string port = std::to_string(test::shared_server_port(ServerKind::redis_cluster));
  EXPECT_THAT(opening_error("redis://easyretry:secret@127.0.0.1:" + port), HasSubstr("use redis+cluster://"));
  EXPECT_THAT(opening_error("redis+cluster://127.0.0.1:" + port + "/3"), HasSubstr("only database 0"));
  EXPECT_THAT(opening_error("redis+cluster://127.0.0.1:1,127.0.0.1:x"), HasSubstr("port"));
  EXPECT_THAT(opening_error("redis+sentinl://127.0.0.1"), HasSubstr("redis+cluster://host:port,host:port"));
  EXPECT_THAT(opening_error("redis://127.0.0.1?tags=6"), HasSubstr("unknown option \"tags\""));
  const DatabaseServer one{ServerKind::redis};
  EXPECT_THAT(opening_error("redis+cluster://easyretry:secret@127.0.0.1:" + std::to_string(one.port())),
              HasSubstr("this is not a Redis Cluster; use redis://"));
}

// The permissions of docs/redis.md are enough.
TEST_F(RedisClusterStore, AUserWithTheDocumentedRightsDoesEverything) {
  const std::string user = "u" + prefix();
  const std::string own = "{" + prefix();
  cluster.order({"ACL", "SETUSER", user, "on", ">secret", "~" + own + "}:*", "~" + own + ".*", "+@read", "+@write",
                 "+@connection", "+evalsha", "+script|load", "+info", "+time", "+wait", "+cluster|slots",
                 "&" + own + "}:*", "+publish", "+subscribe"});
  const std::string port = std::to_string(test::shared_server_port(ServerKind::redis_cluster));
  const auto app =
      open_store("redis+cluster://" + user + ":secret@127.0.0.1:" + port + "?wait=1&shards=2&tags=6&prefix=" + prefix(),
                 system_clock());
  finish(*app, claimed(*app, {stored(*app, a_task())}).at(0));
  EXPECT_TRUE(app->keep());
  EXPECT_TRUE(app->list({}));
  EXPECT_TRUE(app->beat({.name_space = "shop", .node = "a", .ttl = 10s}));
  EXPECT_TRUE(app->counts("shop"));
  std::atomic<int> heard{0};
  const auto listening = app->listen("shop", [&] { ++heard; });
  ASSERT_TRUE(listening);
  ASSERT_TRUE(test::eventually([&] { return heard == 1; }));
  store->announce("shop");
  EXPECT_TRUE(test::eventually([&] { return heard == 2; })) << "through whichever node it was announced";
  cluster.order({"ACL", "DELUSER", user});
}

TEST_F(RedisClusterStore, OneNodeThatAnswersIsEnoughToFindTheOthers) {
  const std::string port = std::to_string(test::shared_server_port(ServerKind::redis_cluster) + 2);
  const std::string options = "?prefix=" + prefix() + "&shards=2&tags=6";
  stored(*store, a_task());
  const auto other =
      open_store("redis+cluster://easyretry:secret@127.0.0.1:1,127.0.0.1:" + port + options, system_clock());
  EXPECT_EQ(other->count({}).value(), 1);
}

TEST_F(RedisClusterStore, ASlotThatHasMovedIsFollowedWithoutAFailure) {
  const task::NewTask task = a_task();
  const Ticket ticket = stored(*store, task);
  move(task);
  const auto won = claimed(*store, {ticket});
  ASSERT_THAT(won, SizeIs(1));
  move(task);
  EXPECT_TRUE(finish(*store, won[0]));
  move(task);
  EXPECT_EQ(store->count({.finished = true}).value(), 1);
}

TEST_F(RedisClusterStore, AKeyThatMovedBeforeItsSlotIsFollowed) {
  const task::NewTask task = a_task();
  const TaskRecord held = claimed(*store, {stored(*store, task)}).at(0);
  const auto move = begin_move_of(task);
  while (cluster.move_a_key(move)) {
  }
  const Renewal renewal{{held.info.id, held.info.version}, 60s};
  EXPECT_TRUE(store->renew({&renewal, 1}).value().applied.at(0)) << "by ASK";
  EXPECT_EQ(store->count({.name_space = test::kNamespace}).value(), 1) << "by ASK, where some keys are nowhere";
  cluster.end_move(move);
  EXPECT_TRUE(finish(*store, held));
}

TEST_F(RedisClusterStore, OfASlotHalfwayNothingIsDoneAndOthersGoOn) {
  const task::NewTask moving = a_task();
  const RedisCluster::Move move = begin_move_of(moving);
  task::NewTask other = a_task();
  while (slot_of_key(prefix(), other.key) == move.slot) other = a_task();
  cluster.end_move(move);

  const Ticket there = stored(*store, moving);
  const auto halfway = begin_move_of(moving);
  ASSERT_TRUE(cluster.move_a_key(halfway));
  const auto refused = insert(*store, moving);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::unavailable);
  EXPECT_THAT(refused.error().detail, AllOf(HasSubstr("TRYAGAIN"), HasSubstr("is moving")));

  const Ticket here = stored(*store, other);
  const ShardCursor all[] = {{ShardId{0}}, {ShardId{1}}};
  const auto reply = store->load({.name_space = test::kNamespace, .from = all}).value();
  ASSERT_TRUE(reply.trouble);
  EXPECT_THAT(reply.trouble->detail, HasSubstr("TRYAGAIN"));
  ASSERT_THAT(reply.tasks, SizeIs(1));
  EXPECT_EQ(reply.tasks[0].id, here.id);

  while (cluster.move_a_key(halfway)) {
  }
  cluster.end_move(halfway);
  EXPECT_THAT(loaded(*store), ::testing::UnorderedElementsAre(there.id, here.id));
}

TEST_F(RedisClusterStore, ScriptsThatServersHaveForgottenAreGivenAgain) {
  std::vector<task::NewTask> batch;
  for (int i = 0; i < 30; ++i) batch.push_back(a_task());
  store->insert(batch).value();
  cluster.order({"SCRIPT", "FLUSH"});
  EXPECT_THAT(store->insert(batch).value().tasks, SizeIs(30));
  EXPECT_THAT(loaded(*store), SizeIs(30));
}

TEST_F(RedisClusterStore, PagesOfALoadGiveEachTaskOnceThoughEachPartReadsAShareOfIt) {
  std::vector<task::NewTask> tasks;
  for (int i = 0; i < 3'000; ++i) tasks.push_back(a_task().due_at(TimePoint{std::chrono::hours{1 + i % 7}}));
  store->insert(tasks).value();
  std::vector<TaskId> seen;
  std::vector<ShardCursor> from{{ShardId{0}}, {ShardId{1}}};
  while (!from.empty()) {
    auto reply = store->load({.name_space = test::kNamespace, .from = from, .limit = 100}).value();
    EXPECT_LE(reply.tasks.size(), 100 * from.size());
    for (const auto& task : reply.tasks) seen.push_back(task.id);
    from = std::move(reply.more);
  }
  EXPECT_EQ(seen.size(), tasks.size());
  std::ranges::sort(seen);
  EXPECT_TRUE(std::ranges::adjacent_find(seen) == seen.end());
}

}  // namespace
}  // namespace easyretry::storage
