// /v1/circuits and the orders of people: who may give them, what they answer, what is kept.

#include <gmock/gmock.h>

#include "unit/server/api_case.h"

namespace easyretry::server {
namespace {

using http::Method;
using ::testing::HasSubstr;
using ::testing::Not;

class CircuitEndpoints : public ApiCase {
 protected:
  CircuitEndpoints() {
    add_circuit_endpoints(api);
    add_handler_endpoints(api);
    add_audit_endpoint(api);
    detail::Handler handler;
    handler.name = "pay";
    handler.invoke = [](const std::string&, bool) { return detail::Reply{}; };
    handler.options.circuit = CircuitOptions{.name = "gateway"};
    namespaces.at("default")->core().add_handler(std::move(handler));
  }
  http::Response order(const std::string& verb, const std::string& body, const std::string& role = "operator",
                       const std::string& circuit = "gateway") {
    return ask(Method::post, "/v1/circuits/" + circuit + "/" + verb, token(role), body);
  }
  std::string list() { return ask(Method::get, "/v1/circuits", token("viewer")).body; }
};

TEST_F(CircuitEndpoints, AnOrderIsListedAtOnceAndEndsWithAReset) {
  EXPECT_THAT(order("open", R"({"why":"it moves"})").body,
              HasSubstr(R"("changed":true,"known":true,"name":"gateway","order":{"since":)"));
  EXPECT_THAT(list(), HasSubstr(R"("state":"open","why":"it moves"})"));
  EXPECT_THAT(list(), HasSubstr(R"("starts_per_second":0,"state":"open")"));
  EXPECT_THAT(order("ignore", R"({"why":"","for_ms":600000})").body, HasSubstr(R"("until":)"));
  EXPECT_THAT(list(), HasSubstr(R"("state":"closed","until":)"));
  EXPECT_THAT(order("reset", "").body, HasSubstr(R"("changed":true)"));
  EXPECT_THAT(order("reset", "").body, HasSubstr(R"("changed":false)"));
  EXPECT_THAT(list(), Not(HasSubstr("order")));
}

TEST_F(CircuitEndpoints, ABudgetForRetriesIsShown) {
  EXPECT_THAT(list(), Not(HasSubstr("retries")));
  detail::Handler handler;
  handler.name = "refund";
  handler.invoke = [](const std::string&, bool) { return detail::Reply{}; };
  handler.options.circuit = CircuitOptions{.name = "bank", .retries_at_most = 0.2};
  namespaces.at("default")->core().add_handler(std::move(handler));
  EXPECT_THAT(list(),
              HasSubstr(R"("handlers":["refund"],"held":0,"held_retries":0,"name":"bank","retries_at_most":0.2)"));
}

TEST_F(CircuitEndpoints, AnUnknownNameIsAcceptedAndListedBecauseOtherInstancesMayHaveIt) {
  EXPECT_THAT(order("open", R"({"why":""})", "operator", "gatewy").body,
              HasSubstr(R"("did_you_mean":"gateway","known":false)"));
  EXPECT_THAT(list(), HasSubstr(R"("handlers":[],"held":0,"name":"gatewy","order":{)"));
}

TEST_F(CircuitEndpoints, AnOrderIsNoPausedHandler) {
  order("open", R"({"why":""})");
  EXPECT_THAT(ask(Method::get, "/v1/handlers", token("viewer")).body, Not(HasSubstr("gateway")));
}

TEST_F(CircuitEndpoints, OnlyOperatorsAndAdminsGiveOrdersAndTheyAreAudited) {
  for (const std::string role : {"viewer", "submitter", "worker", "application"}) {
    for (const std::string verb : {"open", "ignore", "reset"}) EXPECT_EQ(order(verb, "{}", role).status, 403) << role;
  }
  EXPECT_EQ(order("open", R"({"why":"it moves"})", "admin").status, 200);
  EXPECT_THAT(ask(Method::get, "/v1/audit", token("admin")).body,
              HasSubstr(R"("request":"POST /v1/circuits/gateway/open")"));
}

TEST_F(CircuitEndpoints, BodiesThatMakeNoSenseAreRefused) {
  EXPECT_THAT(order("ignore", R"({"why":""})").body, HasSubstr("for_ms"));
  EXPECT_EQ(order("ignore", R"({"why":""})").status, 400);
  EXPECT_EQ(order("ignore", R"({"why":"","for_ms":86400001})").status, 422);
  EXPECT_EQ(order("ignore", R"({"why":"","for_ms":-1})").status, 422);
  EXPECT_EQ(order("open", R"({"why":"","for_ms":10})").status, 422);
  EXPECT_EQ(order("open", R"({})").status, 400);
  EXPECT_EQ(order("open", R"({"why":"","for":"10m"})").status, 422);
  EXPECT_EQ(order("open", R"({"why":""})", "operator", std::string(200, 'x')).status, 422);
}

}  // namespace
}  // namespace easyretry::server
