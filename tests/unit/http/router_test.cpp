#include "http/router.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace easyretry::http {
namespace {

struct Routes : ::testing::Test {
  Routes() {
    router.add(Method::get, "/v1/tasks", "list");
    router.add(Method::post, "/v1/tasks", "submit");
    router.add(Method::get, "/v1/tasks/{id}", "show");
    router.add(Method::post, "/v1/tasks/{id}/cancel", "cancel");
  }
  Router<std::string>::Found find(Method method, std::string_view target) {
    request = {};
    request.method = method;
    request.target = *parse_target(target);
    return router.find(request);
  }
  std::string endpoint(Method method, std::string_view target) {
    const auto found = find(method, target);
    const auto* const* name = std::get_if<const std::string*>(&found);
    return name == nullptr ? "none" : **name;
  }
  Router<std::string> router;
  Request request;
};

TEST_F(Routes, AreFoundByMethodAndPath) {
  EXPECT_EQ(endpoint(Method::get, "/v1/tasks?limit=3"), "list");
  EXPECT_EQ(endpoint(Method::post, "/v1/tasks"), "submit");
  EXPECT_EQ(endpoint(Method::post, "/v1/tasks/17/cancel"), "cancel");
}

TEST_F(Routes, HeadIsServedByGet) {
  EXPECT_EQ(endpoint(Method::head, "/v1/tasks"), "list");
}

TEST_F(Routes, NameTheirParameters) {
  EXPECT_EQ(endpoint(Method::get, "/v1/tasks/a%2Fb"), "show");
  EXPECT_EQ(request.parameters.at("id"), "a/b");
}

TEST_F(Routes, AnUnknownPathIsNothing) {
  for (const char* path : {"/", "/v1", "/v1/tasks/", "/v1/tasks/17/cancel/now", "/V1/tasks"}) {
    EXPECT_TRUE(std::holds_alternative<Router<std::string>::Nothing>(find(Method::get, path))) << path;
  }
}

TEST_F(Routes, AKnownPathSaysWhichMethodsItHas) {
  const auto found = find(Method::del, "/v1/tasks");
  EXPECT_EQ(std::get<Router<std::string>::OtherMethods>(found).allowed, "GET, POST");
}

}  // namespace
}  // namespace easyretry::http
