#include "server/sessions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <easyretry/testing.h>

#include "server/refusal.h"
#include "support/temp_folder.h"

namespace easyretry::server {
namespace {

using namespace std::chrono_literals;

struct SessionsTest : ::testing::Test {
  Token token(const std::string& name, const std::string& role = "viewer") {
    const Token made{name, role, "default", hash_of(name)};
    tokens->add(made);
    return made;
  }
  static std::string code_of(const std::function<void()>& act) {
    try {
      act();
    } catch (const Refusal& e) {
      return e.problem().code;
    }
    return "";
  }

  test::TempFolder folder;
  std::shared_ptr<Tokens> tokens = std::make_shared<Tokens>(folder.path() / "tokens");
  easyretry::testing::ManualClock clock;
  Sessions sessions{tokens, {.of_a_token = 3, .in_all = 5}, clock};
};

TEST_F(SessionsTest, ASessionStandsForItsToken) {
  const std::string secret = sessions.begin(token("ann", "operator"));
  const auto session = sessions.find(secret);
  ASSERT_TRUE(session);
  EXPECT_EQ(session->token.name, "ann");
  EXPECT_TRUE(session->token.may(Right::operate));
  EXPECT_EQ(session->expires_at, clock.now() + 8h);
  EXPECT_NE(session->csrf, secret);
  EXPECT_FALSE(sessions.find("er_guess"));
  EXPECT_FALSE(sessions.find(""));
}

TEST_F(SessionsTest, EndsAfterEightHours) {
  const std::string secret = sessions.begin(token("ann"));
  clock.advance(8h - 1ms);
  EXPECT_TRUE(sessions.find(secret)) << "being used does not prolong it, nor end it";
  clock.advance(1ms);
  EXPECT_FALSE(sessions.find(secret));
}

TEST_F(SessionsTest, EndsWhenItsTokenIsRevoked) {
  const std::string secret = sessions.begin(token("ann"));
  tokens->remove("ann");
  EXPECT_FALSE(sessions.find(secret));
  token("ann");
  EXPECT_FALSE(sessions.find(secret)) << "it does not come back with the token";
}

TEST_F(SessionsTest, HasTheRightsThatItsTokenHasNow) {
  const std::string secret = sessions.begin(token("ann", "operator"));
  tokens->remove("ann");
  token("ann", "viewer");
  EXPECT_FALSE(sessions.find(secret)->token.may(Right::operate));
}

TEST_F(SessionsTest, EndsWhenItIsEnded) {
  const std::string secret = sessions.begin(token("ann"));
  EXPECT_TRUE(sessions.end(secret));
  EXPECT_FALSE(sessions.find(secret));
  EXPECT_FALSE(sessions.end(secret));
}

TEST_F(SessionsTest, ATokenWithManySessionsLosesItsOwnOldestOne) {
  const Token ann = token("ann");
  const std::string of_bob = sessions.begin(token("bob"));
  std::vector<std::string> secrets;
  for (int i = 0; i < 4; ++i) {
    clock.advance(1s);
    secrets.push_back(sessions.begin(ann));
  }
  EXPECT_FALSE(sessions.find(secrets[0]));
  for (int i = 1; i < 4; ++i) EXPECT_TRUE(sessions.find(secrets[static_cast<std::size_t>(i)]));
  EXPECT_TRUE(sessions.find(of_bob));
}

TEST_F(SessionsTest, ANewOneIsRefusedWhileThereAreTooManyAndThoseThatEndedDoNotCount) {
  for (const char* name : {"a", "b", "c", "d", "e"}) sessions.begin(token(name));
  const Token last = token("f");
  EXPECT_EQ(code_of([&] { sessions.begin(last); }), "too_many_sessions");
  clock.advance(8h);
  EXPECT_TRUE(sessions.find(sessions.begin(last)));
}

struct FromAPage : SessionsTest {
  static http::Request request(std::map<std::string, std::string> headers) {
    http::Request made;
    made.method = http::Method::post;
    made.headers = std::move(headers);
    made.headers.emplace("host", "retry.example:7077");
    return made;
  }
  std::string refusal(std::map<std::string, std::string> headers, bool tls = false) {
    return code_of([&] { require_own_page(request(std::move(headers)), session, tls); });
  }

  const Session session{{}, "the csrf token", {}};
};

TEST_F(FromAPage, AChangeNeedsTheTokenAndThisServerAsItsOrigin) {
  const std::string right = "the csrf token";
  EXPECT_EQ(refusal({{"x-csrf-token", right}, {"origin", "http://retry.example:7077"}}), "");
  EXPECT_EQ(refusal({{"x-csrf-token", right}, {"origin", "https://Retry.Example:7077"}}, true), "");
  EXPECT_EQ(refusal({{"x-csrf-token", right}, {"sec-fetch-site", "same-origin"}}), "");
  EXPECT_EQ(refusal({{"origin", "http://retry.example:7077"}}), "csrf");
  EXPECT_EQ(refusal({{"x-csrf-token", "wrong"}, {"origin", "http://retry.example:7077"}}), "csrf");
  EXPECT_EQ(refusal({{"x-csrf-token", right}}), "csrf") << "no browser leaves out both";
}

TEST_F(FromAPage, AnotherOriginIsRefused) {
  for (const char* origin : {"http://evil.example", "http://retry.example", "http://retry.example:7078", "null", "",
                             "http://retry.example:7077.evil.example", "ftp://retry.example:7077"}) {
    EXPECT_EQ(refusal({{"x-csrf-token", session.csrf}, {"origin", origin}}), "csrf") << origin;
  }
  for (const char* site : {"cross-site", "same-site", "none", ""}) {
    EXPECT_EQ(
        refusal({{"x-csrf-token", session.csrf}, {"sec-fetch-site", site}, {"origin", "http://retry.example:7077"}}),
        "csrf")
        << site;
  }
  EXPECT_EQ(refusal({{"x-csrf-token", session.csrf}, {"origin", "http://retry.example:7077"}}, true), "csrf")
      << "a page without TLS, which anyone on the way may have written";
}

TEST(SessionCookie, IsFoundAmongOthers) {
  http::Request request;
  EXPECT_EQ(session_secret(request), "");
  request.headers["cookie"] = "a=b; easyretry_session=er_1; c";
  EXPECT_EQ(session_secret(request), "er_1");
  request.headers["cookie"] = "xeasyretry_session=er_1; easyretry_session";
  EXPECT_EQ(session_secret(request), "");
}

TEST(SessionCookie, IsKeptFromScriptsAndFromOtherSites) {
  EXPECT_EQ(session_cookie("er_1", 8h, true),
            "easyretry_session=er_1; Path=/; HttpOnly; SameSite=Strict; Max-Age=28800; Secure");
  EXPECT_EQ(session_cookie("", 8h, false), "easyretry_session=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0");
}

}  // namespace
}  // namespace easyretry::server
