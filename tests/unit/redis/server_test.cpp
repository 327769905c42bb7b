// Servers that refuse commands, for a while or for ever: the errors, and that no task is lost.

#include <atomic>
#include <fstream>

#include "support/eventually.h"
#include "support/line_at_start.h"
#include "support/temp_folder.h"
#include "unit/redis/support.h"

namespace easyretry::storage {
namespace {

// A server for this test alone, which changes its settings.
class RedisServer : public ::testing::Test {
 protected:
  std::string url(const std::string& user = "easyretry:secret", const std::string& options = {}) const {
    return "redis://" + user + "@127.0.0.1:" + std::to_string(server.port()) + "/0" + options;
  }
  std::unique_ptr<Store> open(const std::string& options = {}) const {
    return open_store(url("easyretry:secret", options), system_clock());
  }
  std::string run(const std::vector<std::string>& command) { return PlainRedis{server.port()}.run(command); }

  DatabaseServer server{ServerKind::redis};
};

TEST_F(RedisServer, AWrongPasswordUserOrDatabaseIsRefusedWithARemedy) {
  EXPECT_THAT(opening_error(url("easyretry:wrong")), AllOf(HasSubstr("WRONGPASS"), HasSubstr("check the user")));
  EXPECT_THAT(opening_error(url("nobody:secret")), HasSubstr("check the user"));
  EXPECT_THAT(opening_error(url("easyretry:wrong")), Not(HasSubstr("wrong@")));
  EXPECT_THAT(opening_error("redis://easyretry:secret@127.0.0.1:" + std::to_string(server.port()) + "/99999"),
              HasSubstr("database"));
  run({"ACL", "SETUSER", "default", "on", ">other"});
  EXPECT_THAT(opening_error("redis://127.0.0.1:" + std::to_string(server.port())), HasSubstr("requires a password"));
}

TEST_F(RedisServer, APasswordThatChangesIsReadFromItsFileAgain) {
  const test::TempFolder folder;
  const std::string file = (folder.path() / "password").string();
  std::ofstream{file} << "first\n";
  run({"ACL", "SETUSER", "app", "on", ">first", "~*", "+@all"});
  const auto store = open_store(url("app", "?password_file=" + file), system_clock());
  run({"ACL", "SETUSER", "app", "resetpass", ">second"});
  run({"CLIENT", "KILL", "USER", "app"});
  EXPECT_TRUE(test::eventually([&] { return !store->list({}); }));
  std::ofstream{file} << "second\n";
  EXPECT_TRUE(test::eventually([&] { return store->list({}).has_value(); }));
}

TEST_F(RedisServer, AUserWithoutRightsIsRefusedWithTheRuleToMake) {
  run({"ACL", "SETUSER", "guest", "on", ">secret", "~other:*", "+@all"});
  EXPECT_THAT(opening_error(url("guest:secret")), AllOf(HasSubstr("NOPERM"), HasSubstr("ACL SETUSER")));
}

// The permissions of docs/redis.md are enough.
TEST_F(RedisServer, AUserWithTheDocumentedRightsDoesEverything) {
  run({"ACL", "SETUSER", "app", "on", ">secret", "~{easyretry}:*", "+@read", "+@write", "+@connection", "+evalsha",
       "+script|load", "+info", "+time", "+wait", "&{easyretry}:*", "+publish", "+subscribe"});
  const auto store = open_store(url("app:secret"), system_clock());
  EXPECT_THAT(store->info().durability.words, HasSubstr("appendfsync=unknown"));
  finish(*store, claimed(*store, {stored(*store, a_task())}).at(0));
  EXPECT_TRUE(store->keep());
  EXPECT_TRUE(store->list({}));
  EXPECT_TRUE(store->beat({.name_space = "shop", .node = "a", .ttl = 10s}));
  EXPECT_TRUE(store->counts("shop"));
  std::atomic<int> heard{0};
  const auto listening = store->listen("shop", [&] { ++heard; });
  ASSERT_TRUE(listening);
  ASSERT_TRUE(test::eventually([&] { return heard == 1; }));
  open_store(url("app:secret"), system_clock())->announce("shop");
  EXPECT_TRUE(test::eventually([&] { return heard == 2; }));
}

// So that its engine asks for new tasks as often as without announcements.
TEST_F(RedisServer, AUserWithoutTheRightToSubscribeDoesNotListen) {
  run({"ACL", "SETUSER", "app", "on", ">secret", "~{easyretry}:*", "resetchannels", "+@all"});
  const auto store = open_store(url("app:secret"), system_clock());
  EXPECT_FALSE(store->listen("shop", [] {}));
  store->announce("shop");
  EXPECT_TRUE(store->list({}));
}

TEST_F(RedisServer, OneThatMayThrowTasksAwayIsRefused) {
  for (const char* policy : {"allkeys-lru", "volatile-ttl"}) {
    run({"CONFIG", "SET", "maxmemory-policy", policy});
    EXPECT_THAT(opening_error(url()), AllOf(HasSubstr(policy), HasSubstr("maxmemory-policy noeviction")));
  }
  run({"CONFIG", "SET", "maxmemory-policy", "noeviction"});
  EXPECT_EQ(opening_error(url()), "accepted");
}

TEST_F(RedisServer, DoesNotLookAtTasksThatAreDueLaterHoweverManyThereAre) {
  const auto store = open();
  for (int i = 0; i < 100; ++i) stored(*store, a_task().key(std::to_string(i)).due_in(24h));
  run({"CONFIG", "RESETSTAT"});
  EXPECT_THAT(loaded(*store), IsEmpty());
  EXPECT_THAT(run({"INFO", "commandstats"}), Not(HasSubstr("cmdstat_zrange:")));
  stored(*store, a_task().key("now"));
  EXPECT_THAT(loaded(*store), SizeIs(1));
  EXPECT_THAT(run({"INFO", "commandstats"}), HasSubstr("cmdstat_zrange:calls=1,"));
}

TEST_F(RedisServer, WithoutMemoryStoresNothingAndStillEndsItsTasks) {
  const auto store = open();
  const TaskRecord held = claimed(*store, {stored(*store, a_task())}).at(0);
  run({"CONFIG", "SET", "maxmemory", "1"});
  const auto refused = insert(*store, a_task());
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::unavailable);
  EXPECT_THAT(refused.error().detail, AllOf(HasSubstr("OOM"), HasSubstr("raise maxmemory")));
  EXPECT_EQ(store->count({}).value(), 1);
  const Renewal renewal{{held.info.id, held.info.version}, 30s};
  EXPECT_TRUE(store->renew({&renewal, 1}).value().applied.at(0));
  EXPECT_TRUE(finish(*store, held));
  run({"CONFIG", "SET", "maxmemory", "0"});
  EXPECT_TRUE(insert(*store, a_task()));
}

TEST_F(RedisServer, AReplicaIsRefusedAndAStoreThatLearnsOfItLaterSaysSo) {
  const auto store = open();
  stored(*store, a_task());
  run({"REPLICAOF", "127.0.0.1", "1"});
  EXPECT_THAT(opening_error(url()), HasSubstr("connect to the primary"));
  const auto refused = insert(*store, a_task());
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::unavailable);
  EXPECT_THAT(refused.error().detail, HasSubstr("connect to the primary"));
  run({"REPLICAOF", "NO", "ONE"});
  EXPECT_TRUE(insert(*store, a_task()));
}

TEST_F(RedisServer, TooManyConnectionsAreSaid) {
  PlainRedis first{server.port()};
  first.run({"CONFIG", "SET", "maxclients", "1"});
  EXPECT_THAT(opening_error(url()), HasSubstr("maxclients"));
}

TEST_F(RedisServer, DurabilityFollowsTheSettings) {
  EXPECT_EQ(open()->info().durability.words, "a power cut on the server's machine");
  run({"CONFIG", "SET", "appendfsync", "everysec"});
  EXPECT_THAT(open()->info().durability.words, HasSubstr("a power cut may lose the last two seconds"));
  run({"CONFIG", "SET", "appendfsync", "no"});
  EXPECT_THAT(open()->info().durability.words, HasSubstr("a power cut may lose the last half minute"));
  run({"CONFIG", "SET", "appendonly", "no"});
  EXPECT_THAT(open()->info().durability.words, HasSubstr("nothing for sure"));
}

TEST_F(RedisServer, AnEngineLogsTheDurabilityAndWarnsIfThereIsNone) {
  const auto [level, line] = test::line_at_start(url());
  EXPECT_EQ(level, LogLevel::info);
  EXPECT_THAT(line, AllOf(HasSubstr(":" + std::to_string(server.port()) + "/0: an acknowledged task survives a "),
                          Not(HasSubstr("secret"))));
  run({"CONFIG", "SET", "appendonly", "no"});
  const auto [weaker, warning] = test::line_at_start(url());
  EXPECT_EQ(weaker, LogLevel::warning);
  EXPECT_THAT(warning, HasSubstr("survives nothing for sure; without appendonly=yes"));
}

TEST_F(RedisServer, AnUnconfirmedWriteIsInDoubtAndStored) {
  const auto store = open("?wait=1&wait_ms=50");
  const auto reply = insert(*store, a_task().key("pay:1"));
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().code, Errc::in_doubt);
  EXPECT_THAT(reply.error().detail, HasSubstr("0 of 1 replicas"));
  EXPECT_EQ(store->count({}).value(), 1);
}

TEST_F(RedisServer, MembersMeetAlsoWhereNoReplicaConfirms) {
  const auto store = open("?wait=1&wait_ms=50");
  ASSERT_TRUE(store->beat({.name_space = "shop", .node = "a", .ttl = Millis{10'000}}));
  const auto seen = store->members("shop");
  ASSERT_TRUE(seen);
  EXPECT_THAT(seen->members, SizeIs(1));
}

TEST_F(RedisServer, OneThatWasRestartedIsUsedAgainWithoutAFailure) {
  const auto store = open();
  const Ticket ticket = stored(*store, a_task());
  server.kill();
  server.start();
  EXPECT_THAT(claimed(*store, {ticket}), SizeIs(1));
}

TEST_F(RedisServer, OneThatIsAwayIsUnavailable) {
  const auto store = open();
  server.kill();
  const auto reply = insert(*store, a_task());
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().code, Errc::unavailable);
  EXPECT_THAT(reply.error().detail, HasSubstr("check that the server is running"));
}

}  // namespace
}  // namespace easyretry::storage
