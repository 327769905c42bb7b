// /v1/limits and the limits that people set: who may set them, what they answer, what is kept.

#include <gmock/gmock.h>

#include "unit/server/api_case.h"

namespace easyretry::server {
namespace {

using http::Method;
using ::testing::HasSubstr;
using ::testing::Not;

class LimitEndpoints : public ApiCase {
 protected:
  LimitEndpoints() {
    add_limit_endpoints(api);
    add_handler_endpoints(api);
    add_audit_endpoint(api);
    detail::Handler handler;
    handler.name = "pay";
    handler.invoke = [](const std::string&, bool) { return detail::Reply{}; };
    namespaces.at("default")->core().add_handler(std::move(handler));
  }
  http::Response change(const std::string& verb, const std::string& body, const std::string& role = "operator",
                        const std::string& subject = "handler/pay") {
    return ask(Method::post, "/v1/limits/" + subject + "/" + verb, token(role), body);
  }
  std::string list() { return ask(Method::get, "/v1/limits", token("viewer")).body; }
};

TEST_F(LimitEndpoints, ALimitIsListedAtOnceAndEndsWithAReset) {
  EXPECT_THAT(change("set", R"({"running":3,"per_second":2.5,"burst":4,"why":"it is slow"})").body,
              HasSubstr(R"("changed":true,"known":true,"order":{"burst":4,"per_second":2.5,"running":3,"since":)"));
  EXPECT_THAT(list(), HasSubstr(R"("why":"it is slow"})"));
  EXPECT_THAT(list(), HasSubstr(R"("subject":"handler pay")"));
  EXPECT_THAT(change("set", R"({"running":0,"why":""})").body, HasSubstr(R"("running":0)"));
  EXPECT_THAT(change("reset", "").body, HasSubstr(R"("changed":true)"));
  EXPECT_THAT(change("reset", "").body, HasSubstr(R"("changed":false)"));
  EXPECT_THAT(list(), Not(HasSubstr("order")));
}

TEST_F(LimitEndpoints, AnUnknownNameIsAcceptedAndListedBecauseOtherInstancesMayHaveIt) {
  EXPECT_THAT(change("set", R"({"running":3,"why":""})", "operator", "handler/pat").body,
              HasSubstr(R"("did_you_mean":"handler pay","known":false)"));
  EXPECT_THAT(list(), HasSubstr(R"("handlers":[])"));
  EXPECT_THAT(list(), HasSubstr(R"("subject":"handler pat")"));
}

TEST_F(LimitEndpoints, ALimitIsNoPausedHandler) {
  change("set", R"({"running":3,"why":""})");
  EXPECT_THAT(ask(Method::get, "/v1/handlers", token("viewer")).body, Not(HasSubstr("paused\":{")));
}

TEST_F(LimitEndpoints, OnlyOperatorsAndAdminsSetLimitsAndThatIsAudited) {
  for (const std::string role : {"viewer", "submitter", "worker", "application"}) {
    for (const std::string verb : {"set", "reset"}) EXPECT_EQ(change(verb, "{}", role).status, 403) << role;
  }
  EXPECT_EQ(change("set", R"({"running":3,"why":"it is slow"})", "admin").status, 200);
  EXPECT_THAT(ask(Method::get, "/v1/audit", token("admin")).body,
              HasSubstr(R"("request":"POST /v1/limits/handler/pay/set")"));
}

TEST_F(LimitEndpoints, RequestsThatMakeNoSenseAreRefused) {
  EXPECT_EQ(change("set", R"({"running":3})").status, 400) << "no reason";
  EXPECT_THAT(change("set", R"({"why":""})").body, HasSubstr("say running, per_second or both"));
  EXPECT_EQ(change("set", R"({"why":""})").status, 422);
  EXPECT_EQ(change("set", R"({"running":-1,"why":""})").status, 422);
  EXPECT_EQ(change("set", R"({"per_second":0,"why":""})").status, 422);
  EXPECT_EQ(change("set", R"({"running":3,"burst":2,"why":""})").status, 422);
  EXPECT_EQ(change("set", R"({"runing":3,"why":""})").status, 422);
  EXPECT_EQ(change("set", R"({"running":3,"why":""})", "operator", "tenant/pay").status, 422);
  EXPECT_EQ(change("reset", R"({"why":""})").status, 422);
  EXPECT_THAT(list(), Not(HasSubstr("order")));
}

}  // namespace
}  // namespace easyretry::server
