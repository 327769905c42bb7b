// Properties of stores in Redis only: namespaces that it did not expect, a history with a limit, long lists, memory.

#include <future>
#include <map>
#include <set>
#include <thread>

#include <easyretry/testing.h>

#include "storage/redis/keys.h"
#include "support/cutting_proxy.h"
#include "task/task_id.h"
#include "unit/redis/support.h"

namespace easyretry::storage {
namespace {

using easyretry::testing::ManualClock;

constexpr TimePoint kMarch{std::chrono::sys_days{std::chrono::year{2026} / 3 / 10}};

class RedisOwn : public RedisStoreTest {
 protected:
  RedisOptions options_on(const Clock& clock) const {
    RedisOptions options;
    options.address = {.port = test::shared_server_port(ServerKind::redis),
                       .user = "easyretry",
                       .password = "secret",
                       .database = std::stoi(database.name())};
    options.clock = &clock;
    return options;
  }
};

TEST_F(RedisOwn, TasksOfANamespaceThatThisProcessNeverUsedAreClaimedRenewedAndSettled) {
  const auto other = open_store(url(), system_clock());
  stored(*store, a_task().name_space("shop"));
  const Ticket ticket = stored(*other, a_task().name_space("bank"));
  const auto won = claimed(*store, {ticket});
  ASSERT_THAT(won, SizeIs(1));
  const auto third = open_store(url(), system_clock());
  const Renewal renewal{{won[0].info.id, won[0].info.version}, 30s};
  EXPECT_TRUE(third->renew({&renewal, 1}).value().applied.at(0));
  const auto fourth = open_store(url(), system_clock());
  EXPECT_TRUE(finish(*fourth, won[0]));
  EXPECT_EQ(fourth->count({.name_space = "bank", .finished = true}).value(), 1);
}

// Processes draw ids independently. Here two draw the same one, because the clock stands still.
TEST_F(RedisOwn, AnIdThatAnotherProcessHasTakenIsNotGivenAgainWhetherItsTaskLivesOrHasEnded) {
  std::map<unsigned, std::vector<std::string>> by_sequence;
  std::vector<std::string> keys;
  for (int i = 0; keys.size() < 3; ++i) {
    auto& alike = by_sequence[redis::sequence_of(task::key_digest(test::kNamespace, std::to_string(i)))];
    alike.push_back(std::to_string(i));
    if (alike.size() == 3) keys = alike;
  }
  const ManualClock clock{kMarch};
  RedisOptions options = options_on(clock);
  options.prefix = "ids";
  options.total_shards = 1;
  const auto one = open_redis(options);
  const auto two = open_redis(options);
  const auto three = open_redis(options);
  const Ticket first = stored(*one, a_task().key(keys[0]));
  const Ticket second = stored(*two, a_task().key(keys[1]));
  EXPECT_NE(first.id, second.id);
  finish(*one, claimed(*one, {first}).at(0));
  const Ticket third = stored(*three, a_task().key(keys[2]));
  EXPECT_NE(third.id, first.id);
  EXPECT_EQ(one->find({&first.id, 1}).value().at(0).info.key, keys[0]);
  EXPECT_EQ(one->find({&third.id, 1}).value().at(0).info.key, keys[2]);
}

TEST_F(RedisOwn, AnotherNumberOfShardsIsRefusedWithTheRightOne) {
  EXPECT_THAT(opening_error(database.url() + "?shards=4"), AllOf(HasSubstr("shards=2"), HasSubstr("shards=4")));
  EXPECT_EQ(stored_settings(url()).value().total_shards, "2");
  EXPECT_FALSE(stored_settings(url("&prefix=other")));
}

TEST_F(RedisOwn, AStoreOfALaterReleaseIsRefused) {
  run({"HSET", "{easyretry}:store", "layout", "2"});
  EXPECT_THAT(opening_error(url()), AllOf(HasSubstr("layout 2, made by a newer release; this one knows 1"),
                                          HasSubstr("`easyretry --version`"), HasSubstr("prefix=")));
  run({"HSET", "{easyretry}:store", "layout", "mine"});
  EXPECT_THAT(opening_error(url()), HasSubstr("layout mine, which no release makes"));
}

TEST_F(RedisOwn, PrefixesDoNotSeeEachOther) {
  const auto other = open_store(url("&prefix=other"), system_clock());
  stored(*store, a_task().key("pay:42"));
  EXPECT_TRUE(insert(*other, a_task().key("pay:42")).value().tasks[0].created);
  EXPECT_EQ(store->count({}).value(), 1);
}

TEST_F(RedisOwn, InvalidUrlsAreRefusedWithTheReason) {
  EXPECT_THAT(opening_error("redis://127.0.0.1/shop"), HasSubstr("is a number, not \"shop\""));
  EXPECT_THAT(opening_error("redis://127.0.0.1/0?prefix={a}"), HasSubstr("letters, digits"));
  EXPECT_THAT(opening_error("redis://127.0.0.1/0?prefx=a"), HasSubstr("did you mean \"prefix\"?"));
  EXPECT_THROW(reshard_store(url(), {.shards = 4}), std::invalid_argument);
}

TEST_F(RedisOwn, TlsIsRefusedWithAnAlternativeAndWithoutSecrets) {
  for (const char* scheme : {"rediss", "rediss+cluster", "rediss+sentinel"}) {
    EXPECT_THAT(opening_error(std::string{scheme} + "://app:hunter2@127.0.0.1/0"),
                AllOf(HasSubstr("TLS is not available"), HasSubstr("stunnel"), Not(HasSubstr("hunter2"))));
  }
}

TEST_F(RedisOwn, AFullHistoryForgetsItsOldestAndSuccessesNeverPushOutFailures) {
  ManualClock clock{kMarch};
  RedisOptions options = options_on(clock);
  options.prefix = "small";
  options.history_limit = 3;
  const auto small = open_redis(options);
  const TaskRecord failed = claimed(*small, {stored(*small, a_task())}).at(0);
  finish(*small, failed, Outcome::exhausted);
  std::vector<TaskId> ended;
  for (int i = 0; i < 5; ++i) {
    clock.advance(1ms);
    const TaskRecord held = claimed(*small, {stored(*small, a_task())}).at(0);
    finish(*small, held);
    ended.push_back(held.info.id);
  }
  std::vector<TaskId> kept;
  const auto history = small->list({.finished = true}).value();
  for (const TaskRecord& record : history) kept.push_back(record.info.id);
  EXPECT_THAT(kept, ::testing::UnorderedElementsAre(failed.info.id, ended[2], ended[3], ended[4]));
  EXPECT_EQ(run({"HLEN", "{small}:done"}), "4") << "and their records are gone";
  EXPECT_EQ(small->counts(test::kNamespace).value()["pay"].total.ended_in_all(), 6) << "but they are counted";
}

TEST_F(RedisOwn, TheKeeperForgetsTasksThatEndedMonthsAgo) {
  ManualClock clock{kMarch};
  RedisOptions options = options_on(clock);
  options.prefix = "old";
  options.keep_months = 2;
  const auto old = open_redis(options);
  const auto end_one = [&] {
    const TaskRecord held = claimed(*old, {stored(*old, a_task())}).at(0);
    finish(*old, held);
    return held.info.id;
  };
  for (int i = 0; i < 300; ++i) end_one();
  clock.advance(std::chrono::days{31});
  const TaskId april = end_one();
  clock.advance(std::chrono::days{60});
  while (old->keep().value().more) {
  }
  const auto left = old->list({.finished = true}).value();
  ASSERT_THAT(left, SizeIs(1));
  EXPECT_EQ(left[0].info.id, april);
  EXPECT_EQ(run({"HLEN", "{old}:done"}), "1");
}

std::optional<TaskId> requeued(Store& store, TaskId id) {
  return store.requeue({&id, 1}).value().at(0);
}

// So records of an earlier release can be read, and its instances can read new ones.
TEST_F(RedisOwn, AMarkLeavesTheRecordAsItIs) {
  const TaskRecord held = claimed(*store, {stored(*store, a_task().payload("[42]"))}).at(0);
  finish(*store, held, Outcome::exhausted);
  const std::string id = id_bytes(held.info.id);
  const std::string before = run({"HGET", "{easyretry}:done", id});
  const TaskId fresh = requeued(*store, held.info.id).value();
  EXPECT_EQ(run({"HGET", "{easyretry}:done", id}), before);
  EXPECT_EQ(run({"HGET", "{easyretry}:requeued", id}), id_bytes(fresh));
  const TaskRecord record = store->find({&held.info.id, 1}).value().at(0);
  EXPECT_EQ(record.info.requeued_as, fresh);
  EXPECT_EQ(record.payload, "[42]");
}

TEST_F(RedisOwn, AFullHistoryForgetsMarksWithTheirTasks) {
  ManualClock clock{kMarch};
  RedisOptions options = options_on(clock);
  options.prefix = "small";
  options.history_limit = 3;
  const auto small = open_redis(options);
  for (int i = 0; i < 6; ++i) {
    clock.advance(1ms);
    const TaskRecord held = claimed(*small, {stored(*small, a_task())}).at(0);
    finish(*small, held, Outcome::exhausted);
    const TaskId fresh = requeued(*small, held.info.id).value();
    finish(*small, claimed(*small, {{fresh, 1}}).at(0));
  }
  EXPECT_EQ(run({"HLEN", "{small}:requeued"}), "3");
  EXPECT_EQ(small->count({.finished = true, .requeued = true}).value(), 6);
  EXPECT_EQ(small->count({.finished = true}).value(), 3);
}

TEST_F(RedisOwn, TheKeeperForgetsMarksWithTheirTasks) {
  ManualClock clock{kMarch};
  RedisOptions options = options_on(clock);
  options.prefix = "old";
  options.keep_months = 2;
  const auto old = open_redis(options);
  for (int month = 0; month < 2; ++month) {
    for (int i = 0; i < 300; ++i) {
      const TaskRecord held = claimed(*old, {stored(*old, a_task())}).at(0);
      finish(*old, held, Outcome::exhausted);
      requeued(*old, held.info.id).value();
    }
    clock.advance(std::chrono::days{31});
  }
  EXPECT_EQ(run({"HLEN", "{old}:requeued"}), "600");
  clock.advance(std::chrono::days{29});
  while (old->keep().value().more) {
  }
  EXPECT_EQ(run({"HLEN", "{old}:requeued"}), "300");
  EXPECT_EQ(old->count({.finished = true, .requeued = true}).value(), 300);
  EXPECT_EQ(old->count({.finished = true}).value(), 0);
}

TEST_F(RedisOwn, MarksOfAWrongTypeAreToldBeforeAnythingIsStarted) {
  const TaskRecord held = claimed(*store, {stored(*store, a_task())}).at(0);
  finish(*store, held, Outcome::exhausted);
  run({"SET", "{easyretry}:requeued", "something else"});
  EXPECT_FALSE(store->requeue({&held.info.id, 1}));
  EXPECT_EQ(store->count({}).value(), 0);
  run({"DEL", "{easyretry}:requeued"});
  EXPECT_TRUE(requeued(*store, held.info.id));
}

TEST_F(RedisOwn, ListsOfManySlicesHaveEveryTaskOnceInTheOrderOfIds) {
  std::vector<task::NewTask> tasks;
  for (int i = 0; i < 5'000; ++i) tasks.push_back(a_task());
  std::set<TaskId> wanted;
  const auto reply = store->insert(tasks).value();
  for (const Inserted& task : reply.tasks) wanted.insert(task.id);
  const auto listed = [&](ListOrder order) {
    std::vector<TaskId> ids;
    TaskQuery query{.name_space = test::kNamespace, .order = order, .limit = 1'700};
    for (auto page = store->list(query).value(); !page.empty(); page = store->list(query).value()) {
      for (const TaskRecord& record : page) ids.push_back(record.info.id);
      query.after = ids.back();
    }
    return ids;
  };
  EXPECT_EQ(listed(ListOrder::oldest_first), std::vector<TaskId>(wanted.begin(), wanted.end()));
  EXPECT_EQ(listed(ListOrder::newest_first), std::vector<TaskId>(wanted.rbegin(), wanted.rend()));
}

TEST_F(RedisOwn, ThousandsDueAtOnceAreLoadedPageByPageOnceEach) {
  std::vector<task::NewTask> tasks;
  for (int i = 0; i < 6'000; ++i) tasks.push_back(a_task().due_at(TimePoint{std::chrono::hours{1}}));
  store->insert(tasks).value();
  std::set<TaskId> seen;
  std::vector<ShardCursor> from{{ShardId{0}}, {ShardId{1}}};
  std::size_t loaded_in_all = 0;
  while (!from.empty()) {
    auto reply = store->load({.name_space = test::kNamespace, .from = from, .limit = 700}).value();
    loaded_in_all += reply.tasks.size();
    for (const auto& task : reply.tasks) seen.insert(task.id);
    from = std::move(reply.more);
  }
  EXPECT_EQ(seen.size(), tasks.size());
  EXPECT_EQ(loaded_in_all, tasks.size());
}

TEST_F(RedisOwn, AWaitingTaskTakesLessThan800BytesWithAPayloadOf420) {
  constexpr int kTasks = 20'000;
  DatabaseServer own{ServerKind::redis};
  const auto filled = open_store(own.url(), system_clock());
  std::vector<task::NewTask> tasks;
  for (int i = 0; i < kTasks; ++i) {
    task::NewTask task = a_task().handler("orders.pay").payload(std::string(420, 'x')).due_in(24h);
    task.key = task::derive_key(task.handler, std::to_string(i));
    task.rules = {16, 1h, std::nullopt, "exponential first=1s factor=2 cap=15m jitter=1s"};
    tasks.push_back(std::move(task));
  }
  filled->insert(tasks).value();
  PlainRedis plain{own.port()};
  const auto bytes = [&](const std::string& key) {
    const std::string size = plain.run({"MEMORY", "USAGE", "{easyretry}:" + key, "SAMPLES", "0"});
    return size.empty() ? 0 : std::stoll(size);
  };
  long long used = 0;
  for (const char* key : {"body", "meta", "done", "keys:shop"}) used += bytes(key);
  for (int shard = 0; shard < 64; ++shard) used += bytes("due:" + std::to_string(shard) + ":shop");
  const auto each = used / kTasks;
  std::cout << each << " bytes a waiting task\n";
  EXPECT_LT(each, 800);
}

// A body contains the server's time as the process estimates it.
TEST_F(RedisOwn, ATaskToRunAtOnceIsDueAtOnceByTheServersClock) {
  for (int i = 0; i < 200; ++i) {
    const Ticket ticket = stored(*store, a_task());
    const auto won = store->claim({{&ticket, 1}, "worker", 30s}).value();
    ASSERT_THAT(won.won, SizeIs(1)) << "task " << i;
    EXPECT_LE(won.now - won.won[0].info.created_at, 5s);
    EXPECT_LE(won.won[0].info.created_at, won.now);
  }
}

// The time that a caller estimates is behind the server's by a round trip.
TEST_F(RedisOwn, AServerThatIsFarAwayIsStoredInto) {
  test::CuttingProxy proxy{test::shared_server_port(ServerKind::redis)};
  proxy.set_latency(80ms);
  const auto far = open_store(database.url_through(proxy.port()) + "?shards=2", system_clock());
  const auto reply = insert(*far, a_task());
  ASSERT_TRUE(reply) << reply.error().detail;
  EXPECT_TRUE(insert(*far, a_task()));
}

// The call contains the time at which it was made.
TEST_F(RedisOwn, ASlowInsertIsStoredWithTheTimeOfItsArrival) {
  test::CuttingProxy proxy{test::shared_server_port(ServerKind::redis)};
  const auto far = open_store(database.url_through(proxy.port()) + "?shards=2", system_clock());
  stored(*far, a_task());
  proxy.freeze();
  auto late = std::async(std::launch::async, [&] { return stored(*far, a_task()).id; });
  std::this_thread::sleep_for(1500ms);  // the test is about time that passes
  const TaskId direct = stored(*store, a_task()).id;
  proxy.thaw();
  const auto created = [&](TaskId id) { return store->find({&id, 1}).value().at(0).info.created_at; };
  EXPECT_GE(created(late.get()) + 1s, created(direct));
}

TEST(RedisTaskIds, AreReadBackFromTheirUpperBitsAndTheDigest) {
  redis::TaskIds ids;
  for (int i = 0; i < 2'000; ++i) {
    const auto digest = task::key_digest("shop", std::to_string(i));
    const TaskId id =
        ids.next(system_clock().now(), ShardId{static_cast<std::uint16_t>(i % 4096)}, redis::sequence_of(digest));
    EXPECT_EQ(redis::id_from(redis::upper_bits(id), digest), id);
  }
  const TaskId last = task::make_task_id(TimePoint::max(), ShardId{4095}, 1023);
  task::KeyDigest ones{};
  ones.fill(0xff);
  EXPECT_EQ(redis::id_from(redis::upper_bits(last), ones), last);
}

TEST(RedisTaskIds, AreDistinctHoweverManyShareASlotAndAMillisecond) {
  redis::TaskIds ids;
  const TimePoint now = system_clock().now();
  std::set<TaskId> drawn;
  for (int i = 0; i < 1'000; ++i) drawn.insert(ids.next(now, ShardId{7}, 42));
  EXPECT_EQ(drawn.size(), 1'000U);
}

// A process recognizes its task by the id when a reply was lost.
TEST(RedisTaskIds, AreOthersInOtherProcessesForTheSameKeyAndMillisecond) {
  constexpr std::size_t kProcesses = 20;
  const TimePoint now = system_clock().now();
  std::set<TaskId> drawn;
  for (std::size_t i = 0; i < kProcesses; ++i) {
    redis::TaskIds ids;
    drawn.insert(ids.next(now, ShardId{7}, 42));
  }
  EXPECT_GE(drawn.size(), kProcesses - 1) << "one in 300 times, two of them are the same by chance";
  EXPECT_LT(task::created_at(*drawn.rbegin()) - now, 66s);
}

}  // namespace
}  // namespace easyretry::storage
