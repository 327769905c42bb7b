// /v1/tokens and /v1/audit: for admins, of their namespaces, without secrets.

#include <gmock/gmock.h>

#include "unit/server/api_case.h"

namespace easyretry::server {
namespace {

using http::Method;
using ::testing::HasSubstr;
using ::testing::Not;

class AccessEndpoints : public ApiCase {
 protected:
  AccessEndpoints() {
    add_identity_endpoints(api, {});
    add_handler_endpoints(api);
    add_audit_endpoint(api);
  }
  int pause(const std::string& handler, const Token& who) {
    return ask(Method::post, "/v1/handlers/" + handler + "/pause", who, R"({"why":"gateway down"})").status;
  }
  std::string audit(const Token& who) { return ask(Method::get, "/v1/audit", who).body; }
};

TEST_F(AccessEndpoints, TokensAreListedWithoutSecretsAndHashes) {
  tokens->add({"ops", "operator+payloads", "shop", hash_of("er_secret")});
  tokens->add({"all", "viewer", "*", hash_of("er_other")});
  const std::string body = ask(Method::get, "/v1/tokens", token("admin", "*")).body;
  EXPECT_EQ(body, R"({"tokens":[{"name":"all","namespaces":"*","role":"viewer"},)"
                  R"({"name":"ops","namespaces":["shop"],"role":"operator+payloads"}]})");
  EXPECT_THAT(body, Not(HasSubstr(hash_of("er_secret"))));
}

TEST_F(AccessEndpoints, ATokenSaysWhenItWasLastUsed) {
  tokens->add({"ops", "operator", "*", hash_of("er_secret")});
  tokens->add({"idle", "viewer", "*", hash_of("er_other")});
  ASSERT_TRUE(tokens->find("er_secret"));
  const std::string body = ask(Method::get, "/v1/tokens", token("admin", "*")).body;
  EXPECT_THAT(body, HasSubstr(R"({"last_used":"20)"));
  EXPECT_THAT(body, HasSubstr(R"({"name":"idle")")) << "it was never used";
}

TEST_F(AccessEndpoints, AnAdminOfOneNamespaceSeesTheTokensThatAreValidThere) {
  tokens->add({"ops", "operator", "shop", hash_of("a")});
  tokens->add({"all", "viewer", "*", hash_of("b")});
  const std::string body = ask(Method::get, "/v1/tokens", token("admin")).body;
  EXPECT_THAT(body, HasSubstr("all"));
  EXPECT_THAT(body, Not(HasSubstr("ops")));
}

TEST_F(AccessEndpoints, OnlyAdminsSeeTokensAndTheAuditLog) {
  for (const std::string role : {"viewer", "submitter", "worker", "application", "operator", "operator+payloads"}) {
    for (const std::string path : {"/v1/tokens", "/v1/audit"}) {
      EXPECT_EQ(ask(Method::get, path, token(role)).status, 403) << role << " " << path;
    }
  }
  EXPECT_EQ(ask(Method::get, "/v1/tokens", token("admin")).status, 200);
  EXPECT_EQ(ask(Method::get, "/v1/audit", token("admin")).status, 200);
}

TEST_F(AccessEndpoints, ChangesAreKeptNewestFirstAlsoWithoutAFileAndAlsoWhenTheyFail) {
  ASSERT_EQ(pause("mail", token("operator")), 200);
  ASSERT_EQ(ask(Method::post, "/v1/handlers/mail/pause", token("operator"), "{").status, 400);
  const std::string body = audit(token("admin"));
  EXPECT_THAT(body, HasSubstr(R"("file":false)"));
  EXPECT_THAT(body, HasSubstr(R"("by":"ann","from":"127.0.0.1","namespace":"default",)"
                              R"("request":"POST /v1/handlers/mail/pause","request_id":"r1",)"
                              R"("said":"{\"why\":\"gateway down\"}","status":"200")"));
  EXPECT_LT(body.find(R"("status":"400")"), body.find(R"("status":"200")"));
}

TEST_F(AccessEndpoints, ReadsAreNotInTheAuditLog) {
  audit(token("admin"));
  EXPECT_THAT(audit(token("admin")), HasSubstr(R"("entries":[])"));
}

TEST_F(AccessEndpoints, TheAuditLogOfOneNamespaceIsNotSeenInAnother) {
  ASSERT_EQ(pause("mail", token("operator", "shop")), 200);
  EXPECT_THAT(audit(token("admin")), Not(HasSubstr("/v1/handlers/mail/pause")));
  EXPECT_THAT(audit(token("admin", "shop")), HasSubstr("/v1/handlers/mail/pause"));
  EXPECT_THAT(audit(token("admin", "*")), HasSubstr("/v1/handlers/mail/pause"));
}

TEST_F(AccessEndpoints, TheAuditLogInMemoryIsBounded) {
  for (std::size_t i = 0; i < Audit::kMostKept + 3; ++i) pause("h" + std::to_string(i), token("operator"));
  EXPECT_EQ(api.audit().latest().size(), Audit::kMostKept);
  EXPECT_EQ(api.audit().latest().front().at("request"), "POST /v1/handlers/h502/pause");
}

}  // namespace
}  // namespace easyretry::server
