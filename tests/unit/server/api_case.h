#pragma once
// An Api with a namespace in memory, asked as clients with tokens would ask it.

#include <future>

#include <gtest/gtest.h>

#include "server/endpoints.h"
#include "storage/open.h"
#include "support/temp_folder.h"

namespace easyretry::server {

class ApiCase : public ::testing::Test {
 protected:
  explicit ApiCase(std::shared_ptr<storage::Store> in = storage::open_store("memory:", system_clock()))
      : store(std::move(in)) {}

  static std::shared_ptr<Namespace> name_space(const std::shared_ptr<storage::Store>& store, const std::string& name) {
    Config config;
    config.engine.name_space = name;
    config.engine.membership = "alone";
    return std::make_shared<Namespace>(store, config);
  }

  static Token token(const std::string& role, const std::string& name_space = "default") {
    return {"ann", role, name_space, hash_of("ann")};
  }

  http::Response ask(http::Method method, const std::string& path, const Token& who, const std::string& body = "") {
    http::Request request;
    request.id = "r1";
    request.method = method;
    request.target = *http::parse_target(path);
    request.body = body;
    request.peer = "127.0.0.1";
    const auto answered = std::make_shared<std::promise<http::Response>>();
    auto answer = answered->get_future();
    api.serve_as(who, std::move(request),
                 [answered](http::Response response) { answered->set_value(std::move(response)); });
    return answer.get();
  }

  test::TempFolder folder;
  const std::shared_ptr<storage::Store> store;
  const std::shared_ptr<Tokens> tokens = std::make_shared<Tokens>(folder.path() / "tokens");
  const Namespaces namespaces{{"default", name_space(store, "default")}, {"shop", name_space(store, "shop")}};
  Api api{namespaces, tokens, {.name_space = "default"}};
};

}  // namespace easyretry::server
