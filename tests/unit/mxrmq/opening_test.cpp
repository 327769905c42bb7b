// URLs, and which key names are used.

#include "support/database_server.h"
#include "support/plain_redis.h"
#include "support/refusal.h"
#include "unit/mxrmq/support.h"

namespace easyretry::mxrmq {
namespace {

std::string url_error(const std::string& url) {
  return test::refusal<std::invalid_argument>([&] { parse_queue_url(url); });
}

TEST(QueueUrl, HasAServerAndOptions) {
  const QueueOptions options =
      parse_queue_url("mxrmq://me:p%40ss@cache:7000/3?prefix=shop&topic=a,b%2Cc&in_flight=list&profile=gen1");
  EXPECT_EQ(options.address.host, "cache");
  EXPECT_EQ(options.address.port, 7000);
  EXPECT_EQ(options.address.user, "me");
  EXPECT_EQ(options.address.password, "p@ss");
  EXPECT_EQ(options.address.database, 3);
  EXPECT_EQ(options.prefix, "shop");
  EXPECT_THAT(options.topics, ElementsAre("a", "b,c"));
  EXPECT_EQ(options.in_flight, InFlight::list);
  EXPECT_EQ(options.profile, Profile::gen1);
}

TEST(QueueUrl, TheFirstDatabaseIsUsual) {
  for (const char* url : {"mxrmq://cache", "mxrmq://cache/", "mxrmq://cache:6379?prefix=a"}) {
    EXPECT_EQ(parse_queue_url(url).address.database, 0) << url;
    EXPECT_EQ(parse_queue_url(url).address.port, 6379) << url;
  }
}

TEST(QueueUrl, DescribesErrorsWithoutThePassword) {
  EXPECT_THAT(url_error("redis://cache"), HasSubstr("write mxrmq://"));
  EXPECT_THAT(url_error("mxrmq:cache"), HasSubstr("no host"));
  EXPECT_THAT(url_error("mxrmq://me:secret@cache/zero"),
              AllOf(HasSubstr("is a number"), testing::Not(HasSubstr("secret"))));
  EXPECT_THAT(url_error("mxrmq://cache?prefix=shop:"), HasSubstr("no colon at its end"));
  EXPECT_THAT(url_error("mxrmq://cache?prefix={shop}"), HasSubstr("letters, digits"));
  EXPECT_THAT(url_error("mxrmq://cache?profile=gen3"), HasSubstr("gen-doc"));
  EXPECT_THAT(url_error("mxrmq://cache?prefx=a"), HasSubstr("did you mean \"prefix\"?"));
}

class Opening : public QueueTest {
 protected:
  Keys keys_with(const std::string& text) { return QueueConnection{options(text)}.keys(); }
  std::string refusal(const std::string& text) {
    return test::refusal<StoreError>([&] { keys_with(text); });
  }
};

TEST_F(Opening, AnEmptyDatabaseGetsTheNewestNames) {
  const Keys keys = keys_with("");
  EXPECT_EQ(keys.profile, Profile::gen2);
  EXPECT_EQ(keys.payloads, "payloads");
  EXPECT_EQ(keys.pending("orders"), "orders:pending");
}

TEST_F(Opening, EachGenerationIsKnownByAnyOfItsNames) {
  const std::vector<std::tuple<Texts, std::string, Profile>> cases{
      {{"HSET", "shop:payloads", "a", "b"}, "?prefix=shop", Profile::gen2},
      {{"ZADD", "shop:expires", "1", "a"}, "?prefix=shop", Profile::gen2},
      {{"HSET", "dlq:data", "a", "b"}, "", Profile::gen2},
      {{"HSET", "shop:payload:map", "a", "b"}, "?prefix=shop", Profile::gen1},
      {{"ZADD", "delay:tasks", "1", "a"}, "", Profile::gen1},
      {{"HSET", "shop:dlq:payload:map", "a", "b"}, "?prefix=shop", Profile::gen1},
      {{"HSET", "mx-rmq:orders:payload", "a", "b"}, "?topic=orders", Profile::gen_doc},
      {{"ZADD", "mx-rmq:all_expire_monitor", "1", "a"}, "?queue=orders", Profile::gen_doc},
  };
  for (const auto& [command, text, profile] : cases) {
    run({"FLUSHDB"});
    run(command);
    EXPECT_EQ(keys_with(text).profile, profile) << command[1];
  }
}

TEST_F(Opening, TheNamesOfEachGenerationAreItsOwn) {
  const Keys gen1 = keys_with("?prefix=shop&profile=gen1");
  EXPECT_EQ(gen1.payloads, "shop:payload:map");
  EXPECT_EQ(gen1.expires, "shop:expire:monitor");
  EXPECT_EQ(gen1.delays, "shop:delay:tasks");
  EXPECT_EQ(gen1.wake, "shop:delay:wakeup");
  EXPECT_EQ(gen1.dlq, "shop:dlq:queue");
  EXPECT_EQ(gen1.errors_data, "shop:error:parse:payload:map");
  const Keys doc = keys_with("?profile=gen-doc&queue=q");
  EXPECT_EQ(doc.payloads, "mx-rmq:q:payload");
  EXPECT_EQ(doc.expires, "mx-rmq:all_expire_monitor");
  EXPECT_EQ(doc.delays, "mx-rmq:q:delay_tasks");
  EXPECT_EQ(doc.processing("orders"), "mx-rmq:orders:processing");
}

TEST_F(Opening, TwoGenerationsAreRefusedUnlessOneIsNamed) {
  run({"HSET", "shop:payloads", "a", "b"});
  run({"HSET", "shop:payload:map", "a", "b"});
  EXPECT_THAT(refusal("?prefix=shop"),
              AllOf(HasSubstr("two releases"), HasSubstr("profile=gen2"), HasSubstr("profile=gen1")));
  EXPECT_EQ(keys_with("?prefix=shop&profile=gen1").profile, Profile::gen1);
}

TEST_F(Opening, SomethingElseUnderANameIsRefused) {
  run({"SET", "payloads", "of another application"});
  EXPECT_THAT(refusal(""), AllOf(HasSubstr("\"payloads\" is a string"), HasSubstr("prefix=")));
  EXPECT_EQ(keys_with("?prefix=shop").profile, Profile::gen2);
}

// With the same message as our own store.
TEST(OpeningAQueue, OfAServerThatMayThrowMessagesAwayIsRefused) {
  const test::DatabaseServer server{test::ServerKind::redis};
  const std::string url = "mxrmq" + server.url().substr(std::string{"redis"}.size());
  test::PlainRedis plain{server.port()};
  plain.run({"CONFIG", "SET", "maxmemory-policy", "allkeys-lru"});
  try {
    const Queue queue{url};
    FAIL() << "opened";
  } catch (const StoreError& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("may evict stored tasks"),
                                    HasSubstr("allkeys-lru); CONFIG SET maxmemory-policy noeviction")));
  }
  plain.run({"CONFIG", "SET", "maxmemory-policy", "noeviction"});
  EXPECT_NO_THROW(Queue{url});
}

TEST_F(Opening, NamesByQueueNeedTheQueue) {
  EXPECT_THAT(refusal("?profile=gen-doc"), HasSubstr("queue="));
}

TEST_F(Opening, MessagesOfEachGenerationAreRun) {
  for (const char* text : {"?prefix=shop&profile=gen1", "?profile=gen-doc&queue=q", "?profile=gen2"}) {
    run({"FLUSHDB"});
    QueueConnection other{options(text)};
    ASSERT_TRUE(produce_delayed(other, a_message(), 1s));
    clock.move(1s);
    EXPECT_EQ(promote(other).due, 1);
    const Claim claimed = claim(other, kTopic, "w", 30s, 5);
    ASSERT_THAT(claimed.messages, SizeIs(1)) << text;
    EXPECT_TRUE(complete(other, kTopic, {&claimed.messages[0].lease, 1}).front());
    EXPECT_EQ(run({"KEYS", "*"}), Texts{""}) << text;
  }
}

}  // namespace
}  // namespace easyretry::mxrmq
