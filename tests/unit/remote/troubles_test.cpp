// A daemon that is unavailable or refuses, or whose responses are lost.
#include <set>

#include "http/http_server.h"
#include "remote/remote_store.h"
#include "support/cutting_proxy.h"
#include "support/manual_pauses.h"
#include "unit/remote/support.h"

namespace easyretry::test {
namespace {

using namespace std::chrono_literals;

struct RemoteTroubles : RemoteTest {
  static auto failing(Engine& engine) {
    return engine.retryable(
        "pay", [](const Order&) -> Receipt { throw Busy("the gateway is busy"); }, quick());
  }
  std::string through(const CuttingProxy& proxy) const { return "http://127.0.0.1:" + std::to_string(proxy.port()); }
};

TEST_F(RemoteTroubles, AFailureThatCannotBeStoredIsThrownWithTheReason) {
  RemoteEngine engine{url, options()};
  auto pay = failing(engine);
  daemon.reset();
  try {
    (void)pay({"o1", 5});
    FAIL() << "the caller was told that it is stored";
  } catch (const StoreError& e) {
    EXPECT_EQ(e.code(), Errc::unavailable);
    EXPECT_THAT(e.what(), HasSubstr("no daemon answers at " + url));
    EXPECT_THROW(std::rethrow_if_nested(e), Busy);
  }
}

TEST_F(RemoteTroubles, ALostReplyIsAskedForAgainAndStoresOneTask) {
  CuttingProxy proxy{port};
  RemoteEngine engine{through(proxy), options()};
  auto pay = failing(engine);
  proxy.lose_reply_to("POST /v1/tasks");
  const auto paid = pay({"o1", 5});
  EXPECT_TRUE(paid.stored());
  EXPECT_EQ(proxy.lost_replies(), 1U);
  const auto live = engine.list({});
  ASSERT_EQ(live.size(), 1U);
  EXPECT_EQ(live.front().id, paid.task());
}

TEST_F(RemoteTroubles, ALostReplyToACallThatIsAlwaysStoredStillRunsIt) {
  CuttingProxy proxy{port};
  RemoteEngine engine{through(proxy), options()};
  int calls = 0;
  auto pay = engine.retryable("pay", [&](const Order&) { ++calls; }, quick(), {.persist = Persist::always});
  proxy.lose_reply_to("POST /v1/tasks");
  EXPECT_TRUE(pay({"o1", 5}));
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(proxy.lost_replies(), 1U);
}

// Cuts the connection before, within and after the request.
struct RemoteDuplicates : RemoteTroubles {
  template <class Again>
  void at_every_cut(Again again) {
    const auto first = with_attempts(direct, 3);
    for (const Direction direction : {Direction::to_server, Direction::to_client}) {
      for (std::size_t bytes = 0; bytes < 1500; bytes += 47) {
        const std::string key = (direction == Direction::to_server ? "there:" : "back:") + std::to_string(bytes);
        SCOPED_TRACE(key);
        const TaskId id = first.with({.key = key}).submit(1);
        proxy.cut_after(direction, bytes);
        again(key, id);
        EXPECT_EQ(live(key).size(), 1U);
      }
    }
  }
  static Retryable<void, std::tuple<int>> with_attempts(Engine& engine, int most) {
    return engine.retryable("pay", [](int) {}, {.stop = {.max_attempts = most}});
  }
  std::vector<storage::TaskRecord> live(const std::string& key) { return store.list({.key = key}).value(); }
  int attempts_of(const std::string& key) { return live(key).at(0).rules.max_attempts; }

  CuttingProxy proxy{port};
  RemoteEngine direct{url, options()};
  RemoteEngine cut{through(proxy), options()};
  remote::RemoteStore store{{url, application, "default", ""}, false};
};

TEST_F(RemoteDuplicates, AreRejectedWhereverTheConnectionIsCut) {
  const auto pay = with_attempts(cut, 9);
  at_every_cut([&](const std::string& key, TaskId /*id*/) {
    EXPECT_THROW(pay.with({.key = key, .on_duplicate = OnDuplicate::reject}).submit(1), DuplicateTask);
    EXPECT_EQ(attempts_of(key), 3);
  });
}

TEST_F(RemoteDuplicates, HaveTheNewPolicyWhereverTheConnectionIsCut) {
  const auto pay = with_attempts(cut, 9);
  at_every_cut([&](const std::string& key, TaskId id) {
    EXPECT_EQ(pay.with({.key = key, .on_duplicate = OnDuplicate::update_policy}).submit(1), id);
    EXPECT_EQ(attempts_of(key), 9);
  });
}

TEST_F(RemoteDuplicates, AreNotMadeOfStoredTasksWhereverTheConnectionIsCut) {
  const auto pay = with_attempts(cut, 9);
  for (const Direction direction : {Direction::to_server, Direction::to_client}) {
    for (std::size_t bytes = 0; bytes < 1500; bytes += 47) {
      const std::string key = (direction == Direction::to_server ? "there:" : "back:") + std::to_string(bytes);
      SCOPED_TRACE(key);
      proxy.cut_after(direction, bytes);
      const TaskId id = pay.with({.key = key, .on_duplicate = OnDuplicate::reject}).submit(1);
      EXPECT_EQ(live(key).at(0).info.id, id);
    }
  }
}

// Loses the response to the first request, and rejects the repetitions as duplicates.
struct Forgetful {
  explicit Forgetful(std::string remembers) : reach(std::move(remembers)) {}

  void serve(const http::Request& request, const http::Respond& respond) {
    names.emplace(request.header("idempotency-key").value_or(""));
    if (asked++ == 0) return respond({.status = 502, .body = "lost"});
    respond({.status = 409,
             .body = R"({"error":{"code":"duplicate_key","message":"it is there"}})",
             .headers = {{"easyretry-remembers-ms", reach}}});
  }
  // The result of submitting a task with OnDuplicate::reject.
  Errc submit(const RemoteOptions& options) {
    http::HttpServer daemon{
        {}, [this](const http::Request& request, const http::Respond& respond) { serve(request, respond); }};
    RemoteEngine engine{"http://127.0.0.1:" + std::to_string(daemon.port()), options};
    const auto pay = engine.retryable("pay", [](int) {});
    try {
      pay.with({.key = "k", .on_duplicate = OnDuplicate::reject}).submit(1);
    } catch (const DuplicateTask&) {
      return Errc::already_exists;
    } catch (const StoreError& error) {
      return error.code();
    }
    return {};
  }

  const std::string reach;
  int asked = 0;
  std::set<std::string> names;
};

TEST_F(RemoteTroubles, ADaemonThatRemembersTheKeyRejectsADuplicate) {
  Forgetful not_quite{"60000"};
  EXPECT_EQ(not_quite.submit(options()), Errc::already_exists);
  EXPECT_EQ(not_quite.asked, 2);
  EXPECT_EQ(not_quite.names.size(), 1U) << "it is the same request";
}

TEST_F(RemoteTroubles, ADaemonThatWasRestartedLeavesItInDoubt) {
  EXPECT_EQ(Forgetful{"1"}.submit(options()), Errc::in_doubt);
  EXPECT_EQ(Forgetful{"of an earlier release, none"}.submit(options()), Errc::in_doubt);
}

// A daemon behind a proxy that loses every response.
struct RemoteRepetitions : ::testing::Test {
  Errc ask() {
    http::HttpServer proxy{{}, [this](const http::Request&, const http::Respond& respond) {
                             ++asked;
                             clock.advance(takes);
                             respond({.status = 502, .body = "lost"});
                           }};
    remote::DaemonApi api{{"http://127.0.0.1:" + std::to_string(proxy.port()), "", "default", ""}, clock};
    using Method = remote::HttpRequest::Method;
    const auto answer = api.ask_once("test", {.method = Method::post, .target = "/v1/tasks", .within = 60s});
    return answer ? Errc{} : answer.error().code;
  }

  Millis takes{0};
  std::atomic<int> asked{0};
  ManualPauses clock;
};

TEST_F(RemoteRepetitions, ComeAfterPausesThatGrowTenfold) {
  EXPECT_EQ(ask(), Errc::in_doubt);
  EXPECT_EQ(asked, 4);
  EXPECT_THAT(clock.taken(), ::testing::ElementsAre(10ms, 100ms, 1000ms));
}

TEST_F(RemoteRepetitions, EndWhenTheTimeForTheResponseIsOver) {
  takes = 40s;
  EXPECT_EQ(ask(), Errc::in_doubt);
  EXPECT_EQ(asked, 2);
}

TEST_F(RemoteTroubles, ARateLimitedRequestIsUnavailable) {
  http::HttpServer busy{
      {}, [](const http::Request&, const http::Respond& respond) {
        respond({.status = 429, .body = R"({"error":{"code":"too_many_requests","message":"wait"}})"});
      }};
  RemoteEngine engine{"http://127.0.0.1:" + std::to_string(busy.port()), options()};
  try {
    failing(engine).submit({"o1", 5});
    FAIL() << "accepted";
  } catch (const StoreError& error) {
    EXPECT_EQ(error.code(), Errc::unavailable) << "nothing is wrong with the request";
  }
}

TEST_F(RemoteTroubles, ALateAnswerChangesNothing) {
  CuttingProxy proxy{port};
  RemoteOptions short_lease = options();
  short_lease.engine.lease = 500ms;
  RemoteEngine cut_off{through(proxy), short_lease};
  RemoteEngine other{url, short_lease};
  std::atomic<bool> began{false};
  std::atomic<bool> taken_over{false};
  auto work = cut_off.retryable("work", [&](int) -> Answer {
    began = true;
    began.notify_all();
    taken_over.wait(false);
    return give_up("too late to say so");
  });
  const TaskId id = work.submit(1);
  cut_off.start();
  began.wait(false);
  proxy.freeze();
  other.retryable("work", [&](int) {
    taken_over = true;
    taken_over.notify_all();
  });
  other.start();
  ASSERT_TRUE(eventually([&] { return ended(other, id, Outcome::succeeded); }));
  proxy.thaw();
  // Two if it was leased again by a response that was frozen as well: that one is handed back.
  EXPECT_TRUE(eventually([&] { return cut_off.stats().stale_settles >= 1; }));
  EXPECT_TRUE(ended(other, id, Outcome::succeeded));
}

TEST_F(RemoteTroubles, AWrongTokenIsRefusedWithARemedyAndWithoutItsText) {
  RemoteOptions wrong = options();
  wrong.token = "er_never_seen";
  RemoteEngine engine{url, wrong};
  auto pay = failing(engine);
  const std::string said = refusal([&] { pay.submit({"o1", 5}); });
  EXPECT_THAT(said, HasSubstr("the token is unknown"));
  EXPECT_THAT(said, HasSubstr("easyretry token create NAME --role application --namespace default"));
  EXPECT_THAT(said, Not(HasSubstr("never_seen")));
}

TEST_F(RemoteTroubles, ARoleThatMayNotSaysWhichOneMay) {
  RemoteOptions viewer = options();
  viewer.token = token("viewer");
  RemoteEngine engine{url, viewer};
  auto pay = failing(engine);
  EXPECT_THAT(refusal([&] { pay.submit({"o1", 5}); }), HasSubstr("the role viewer"));
  EXPECT_THAT(refusal([&] { pay.submit({"o1", 5}); }), HasSubstr("--role application"));
}

TEST_F(RemoteTroubles, ASubmitterMayStoreButNotLease) {
  RemoteOptions submitter = options();
  submitter.token = token("submitter");
  RemoteEngine engine{url, submitter};
  auto pay = engine.retryable("pay", [](const Order&) {}, quick(), {.persist = Persist::always});
  EXPECT_THAT(refusal([&] { (void)pay({"o1", 5}); }), HasSubstr("may not lease tasks"));
  EXPECT_NE(pay.submit({"o1", 5}), TaskId{});
}

TEST_F(RemoteTroubles, NamespacesAreKeptApart) {
  RemoteOptions shop = options();
  shop.engine.name_space = "shop";
  RemoteEngine not_ours{url, shop};
  EXPECT_THAT(refusal([&] { not_ours.list({}); }), HasSubstr("is not for the namespace \"shop\""));
  shop.token = token("application", "shop");
  RemoteEngine ours{url, shop};
  RemoteEngine others{url, options()};
  const TaskId id = failing(ours).submit({"o1", 5});
  EXPECT_EQ(ours.find(id)->name_space, "shop");
  EXPECT_FALSE(others.find(id));
}

TEST_F(RemoteTroubles, ARedirectionIsNotFollowed) {
  std::atomic<int> asked{0};
  http::HttpServer elsewhere{{}, [&](const http::Request&, const http::Respond& respond) {
                               ++asked;
                               respond({.status = 200, .body = "{}"});
                             }};
  http::HttpServer redirecting{{}, [&](const http::Request&, const http::Respond& respond) {
                                 const std::string to = "http://127.0.0.1:" + std::to_string(elsewhere.port()) + "/";
                                 respond({.status = 307, .body = "", .headers = {{"Location", to}}});
                               }};
  RemoteEngine engine{"http://127.0.0.1:" + std::to_string(redirecting.port()), options()};
  EXPECT_THAT(refusal([&] {
                failing(engine).submit({"o1", 5});
              }),
              HasSubstr("is not an EasyRetry daemon of this version (HTTP 307)"));
  EXPECT_EQ(asked, 0);
}

TEST_F(RemoteTroubles, AddressesAndTokensThatCannotWorkAreRefusedAtOnce) {
  const auto made = [&](const std::string& address, RemoteOptions options = {}) {
    return refusal([&] { RemoteEngine{address, options}; });
  };
  EXPECT_THAT(made("127.0.0.1:7077"), HasSubstr("is not the address of a daemon"));
  EXPECT_THAT(made("ftp://127.0.0.1"), HasSubstr("is not the address of a daemon"));
  EXPECT_THAT(made("http://127.0.0.1:7077/v1"), HasSubstr("is not the address of a daemon"));
  EXPECT_THAT(made("http://retry.example:7077"), HasSubstr("the token must not be sent unencrypted"));
  EXPECT_THAT(made("http://127.example:7077"), HasSubstr("the token must not be sent unencrypted"));
  EXPECT_THAT(made(url, {.token_file = folder.path() / "none"}), HasSubstr("there is no token in"));
  EXPECT_THAT(made(url, {.token_file = "a", .token = "b"}), HasSubstr("not both"));
  EXPECT_THAT(made(url, {.token = "er_1\r\nX-Evil: 1"}), HasSubstr("must not contain line breaks"));
  EXPECT_EQ(made("https://retry.example:7077"), "accepted");
}

TEST_F(RemoteTroubles, WhatTheDaemonDecidesIsRefusedInAReload) {
  RemoteEngine engine{url, options()};
  engine.retryable("pay", [](int) {});
  Config config;
  config.defaults.keep_args = 1h;
  EXPECT_THAT(refusal([&] { engine.reload(config); }),
              HasSubstr("keep and keep_args belong into the configuration of the daemon"));
  config.defaults = {};
  config.handlers["pay"].limit = LimitOptions{.running = 1};
  EXPECT_THAT(refusal([&] { engine.reload(config); }),
              HasSubstr("its limit belongs into the configuration of the daemon"));
}

TEST_F(RemoteTroubles, ATransactionOfAnotherStoreCannotBeJoined) {
  RemoteEngine engine{url, options()};
  EXPECT_THAT(refusal([&] {
                failing(engine).submit(sqlite_tx(nullptr), {"o1", 5});
              }),
              HasSubstr("cannot join this transaction"));
}

}  // namespace
}  // namespace easyretry::test
