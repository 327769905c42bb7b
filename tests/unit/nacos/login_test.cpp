#include "nacos/login.h"

#include <atomic>
#include <future>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "fake_nacos/fake_http.h"
#include "unit/nacos/client_fixture.h"

namespace easyretry::test {
namespace {

using nacos::NamingClient;

std::string token_body(const std::string& token, int seconds) {
  return R"({"accessToken":")" + token + R"(","tokenTtl":)" + std::to_string(seconds) + R"(,"globalAdmin":false})";
}

class LoggingIn : public testing::Test {
 protected:
  nacos::ClientOptions options_with(const FakeHttp& login) {
    auto options = options_for({&server});
    options.servers.front().port = login.port();
    options.credentials = {"shop", "p&ss wörd"};
    return options;
  }

  FakeNacos server;
  const nacos::Instance ours{.ip = "10.0.0.1", .port = 7070};
};

TEST_F(LoggingIn, GivesATokenThatEveryCallCarries) {
  const FakeHttp login{[](const FakeHttp::Seen&) { return FakeHttp::Answer{200, token_body("t-1", 18000)}; }};
  server.want_token("t-1");
  NamingClient client{options_with(login)};
  ASSERT_TRUE(client.register_instance({"orders"}, ours));
  ASSERT_EQ(login.seen().size(), 1U);
  EXPECT_EQ(login.seen().front().path, "/nacos/v3/auth/user/login");
  EXPECT_EQ(login.seen().front().form, "username=shop&password=p%26ss%20w%C3%B6rd");
}

TEST_F(LoggingIn, FallsBackToTheOldPath) {
  const FakeHttp login{[](const FakeHttp::Seen& seen) {
    const bool old = seen.path == "/nacos/v1/auth/users/login";
    return FakeHttp::Answer{old ? 200 : 404, old ? token_body("t-1", 18000) : ""};
  }};
  server.want_token("t-1");
  NamingClient client{options_with(login)};
  EXPECT_TRUE(client.register_instance({"orders"}, ours));
}

TEST_F(LoggingIn, IsDoneAgainBeforeTheTokenEnds) {
  std::atomic<int> count = 0;
  const FakeHttp login{[&](const FakeHttp::Seen&) {
    return FakeHttp::Answer{200, token_body("t-" + std::to_string(++count), 1)};
  }};
  const NamingClient client{options_with(login)};
  EXPECT_TRUE(eventually([&] { return count >= 3; }));
}

TEST_F(LoggingIn, IsDoneAgainWhenTheServerRefusesTheToken) {
  std::atomic<int> count = 0;
  const FakeHttp login{[&](const FakeHttp::Seen&) {
    return FakeHttp::Answer{200, token_body("t-" + std::to_string(++count), 18000)};
  }};
  auto options = options_with(login);
  options.timings.relogin = Millis{1};
  NamingClient client{options};
  ASSERT_TRUE(client.register_instance({"orders"}, ours));
  server.want_token("t-2");
  std::size_t calls = 0;
  EXPECT_TRUE(eventually([&] {
    ++calls;
    return client.query({"orders"}).has_value();
  }));
  EXPECT_EQ(server.count("ServiceQueryRequest"), calls + 1) << "the call that was refused is tried again by itself";
  EXPECT_EQ(count, 2);
}

TEST_F(LoggingIn, IsNotRepeatedAfterWaitingForAnotherLogin) {
  std::atomic<int> count = 0;
  std::atomic<bool> may_answer = false;
  const FakeHttp http{[&](const FakeHttp::Seen&) {
    ++count;
    may_answer.wait(false);
    return FakeHttp::Answer{200, token_body("t-1", 18000)};
  }};
  const nacos::ClientOptions options = options_with(http);
  base::Random random{1};
  nacos::Login login{options, random};
  const auto renewed = [&] { return login.renew(options.servers.front(), {}).has_value(); };
  auto one = std::async(std::launch::async, renewed);
  ASSERT_TRUE(eventually([&] { return count == 1; }));
  auto another = std::async(std::launch::async, renewed);
  may_answer = true;
  may_answer.notify_all();
  EXPECT_TRUE(one.get());
  EXPECT_TRUE(another.get());
  EXPECT_EQ(count, 1);
}

TEST_F(LoggingIn, IsNotDoneAgainAndAgainForARightThatIsMissing) {
  std::atomic<int> count = 0;
  const FakeHttp login{[&](const FakeHttp::Seen&) {
    ++count;
    return FakeHttp::Answer{200, token_body("t-1", 18000)};
  }};
  server.want_token("another");
  NamingClient client{options_with(login)};
  for (int i = 0; i < 5; ++i) {
    const auto refused = client.query({"orders"});
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.error().detail.find("check the user"), std::string::npos) << refused.error().detail;
  }
  EXPECT_EQ(count, 1);
}

class LoggingInWithAWrongPassword : public LoggingIn, public testing::WithParamInterface<int> {};

// Nacos 2.3 answers with an invalid HTTP status.
INSTANTIATE_TEST_SUITE_P(Statuses, LoggingInWithAWrongPassword, testing::Values(403, 0));

TEST_P(LoggingInWithAWrongPassword, IsReportedWithoutThePassword) {
  const FakeHttp login{[](const FakeHttp::Seen&) { return FakeHttp::Answer{GetParam(), "unknown user!"}; }};
  server.want_token("t-1");
  const NamingClient client{options_with(login)};
  ASSERT_TRUE(eventually([&] { return client.status().last_trouble.has_value(); }));
  const std::string trouble = to_string(*client.status().last_trouble);
  EXPECT_NE(trouble.find("refused the user shop"), std::string::npos) << trouble;
  EXPECT_EQ(trouble.find("p&ss"), std::string::npos);
}

TEST_F(LoggingIn, ThatFailsWhenATokenIsReplacedFailsTheCallThatNeededIt) {
  std::atomic<bool> changed = false;
  const FakeHttp login{[&](const FakeHttp::Seen&) {
    return changed ? FakeHttp::Answer{403, "unknown user!"} : FakeHttp::Answer{200, token_body("t-1", 18000)};
  }};
  server.want_token("t-1");
  auto options = options_with(login);
  options.timings.relogin = Millis{200};  // the minimum between a refusal and the next login
  NamingClient client{options};
  ASSERT_TRUE(client.register_instance({"orders"}, ours));
  changed = true;
  server.want_token("t-2");
  ASSERT_TRUE(eventually([&] {
    EXPECT_FALSE(client.query({"orders"}));
    return login.seen().size() > 1;
  }));
  const auto trouble = client.status().last_trouble;
  ASSERT_TRUE(trouble);
  EXPECT_NE(trouble->detail.find("refused the user shop"), std::string::npos) << trouble->detail;
}

TEST_F(LoggingIn, SucceedsLaterIfTheServerFailedAtFirst) {
  std::atomic<int> count = 0;
  const FakeHttp login{[&](const FakeHttp::Seen&) {
    return ++count < 5 ? FakeHttp::Answer{503, ""} : FakeHttp::Answer{200, token_body("t-1", 18000)};
  }};
  server.want_token("t-1");
  NamingClient client{options_with(login)};
  EXPECT_TRUE(client.register_instance({"orders"}, ours));
}

// The timeouts are hours, so only a stop can end it: a test that hangs has failed.
TEST_F(LoggingIn, IsCutShortByStopping) {
  std::atomic<bool> asked = false;
  std::atomic<bool> stopped = false;
  const FakeHttp login{[&](const FakeHttp::Seen&) {
    asked = true;
    eventually([&] { return stopped.load(); });
    return FakeHttp::Answer{200, ""};
  }};
  auto options = options_with(login);
  options.timings.login = Millis{3600'000};
  {
    const NamingClient client{options};
    ASSERT_TRUE(eventually([&] { return asked.load(); }));
  }
  EXPECT_FALSE(stopped.exchange(true));
}

TEST_F(LoggingIn, IsCutShortByTheEndOfTheConnection) {
  std::atomic<bool> over = false;
  std::atomic<int> asked = 0;
  const FakeHttp login{[&](const FakeHttp::Seen&) {
    if (++asked == 1) eventually([&] { return over.load(); });
    return FakeHttp::Answer{200, token_body("t-1", 18000)};
  }};
  auto options = options_with(login);
  options.timings.login = Millis{3600'000};
  const NamingClient client{options};
  ASSERT_TRUE(eventually([&] { return asked == 1; }));
  const auto connection = client.status().connection;
  server.end_streams();
  EXPECT_TRUE(eventually([&] { return client.status().connection > connection; }));
  over = true;
}

TEST_F(LoggingIn, WithoutAnAnswerIsTriedAgainAfterPausesThatDouble) {
  constexpr int kAttempts = 6;
  std::mutex mutex;
  std::vector<Instant> asked;
  const auto count = [&] {
    const std::lock_guard lock{mutex};
    return asked.size();
  };
  const FakeHttp login{[&](const FakeHttp::Seen&) {
    {
      const std::lock_guard lock{mutex};
      asked.push_back(std::chrono::steady_clock::now());
    }
    std::this_thread::sleep_for(Millis{30});
    return FakeHttp::Answer{503, ""};
  }};
  auto options = options_with(login);
  options.timings.login = options.timings.redo = Millis{20};
  const NamingClient client{options};
  ASSERT_TRUE(eventually([&] { return count() >= kAttempts; }));
  const std::lock_guard lock{mutex};
  EXPECT_GE(asked.at(kAttempts - 1) - asked.at(kAttempts - 2), Millis{20 + 20 * 16});
}

// One at a time and each as long as this, they take longer than the timeout of any other request.
TEST_F(LoggingIn, OfManyAtOnceToAServerThatIsSlowSucceedsAtTheFirstAttempt) {
  constexpr int kClients = 10;
  const FakeHttp login{[](const FakeHttp::Seen&) {
    std::this_thread::sleep_for(Millis{60});
    return FakeHttp::Answer{200, token_body("t-1", 18000)};
  }};
  server.want_token("t-1");
  auto options = options_with(login);
  options.timings.request = Millis{200};
  options.timings.login = Millis{20'000};
  std::vector<std::unique_ptr<NamingClient>> clients;
  for (int i = 0; i < kClients; ++i) clients.push_back(std::make_unique<NamingClient>(options));
  for (const auto& client : clients) client->announce({"orders"}, ours);
  for (const auto& client : clients) {
    EXPECT_TRUE(eventually([&] { return client->registration({"orders"}).has_value(); }));
  }
  EXPECT_EQ(login.seen().size(), std::size_t{kClients});
}

TEST_F(LoggingIn, IsNotTriedWithoutCredentials) {
  const FakeHttp login{[](const FakeHttp::Seen&) { return FakeHttp::Answer{500, ""}; }};
  auto options = options_with(login);
  options.credentials.reset();
  NamingClient client{options};
  ASSERT_TRUE(client.register_instance({"orders"}, ours));
  EXPECT_TRUE(login.seen().empty());
}

}  // namespace
}  // namespace easyretry::test
