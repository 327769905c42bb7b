#pragma once
// A real daemon on SQLite in this process, and engines that know it by its address alone.

#include <atomic>
#include <fstream>
#include <memory>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <easyretry/easyretry.h>
#include <easyretry/remote_engine.h>

#include "server/daemon.h"
#include "support/eventually.h"
#include "support/temp_folder.h"

namespace easyretry::test {

using ::testing::HasSubstr;
using ::testing::Not;

struct Order {
  std::string id;
  int cents = 0;
};
EASYRETRY_JSON(Order, id, cents)

struct Receipt {
  int code = 0;
};
EASYRETRY_JSON(Receipt, code)

struct Busy : std::runtime_error {
  using std::runtime_error::runtime_error;
};
struct Closed : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct RemoteTest : ::testing::Test {
  RemoteTest() { start_daemon(); }

  void start_daemon() {
    Config config{.store = folder.sqlite_url()};
    config.engine.log = nullptr;
    config.engine.window = Millis{200};  // so that a lease that has ended is noticed soon
    config.server.listen = "127.0.0.1:" + std::to_string(port);
    config.server.tokens = (folder.path() / "tokens").string();
    config.server.spaces = {"shop"};
    config.server.certificate = certificate;
    config.server.private_key = private_key;
    daemon = std::make_unique<server::Daemon>(config);
    url = daemon->address();
    port = std::stoi(url.substr(url.rfind(':') + 1));
  }

  std::string token(const std::string& role, const std::string& space = "default") const {
    const std::string secret = server::new_secret();
    server::Tokens{folder.path() / "tokens"}.add({"t" + secret.substr(3, 8), role, space, server::hash_of(secret)});
    return secret;
  }

  RemoteOptions options() const {
    RemoteOptions options{.token = application};
    options.engine.log = nullptr;
    return options;
  }

  // A state that the daemon shows for the task.
  bool ended(const Engine& engine, TaskId id, Outcome outcome) const {
    const auto task = engine.find(id);
    return task && task->state == TaskState::finished && task->outcome == outcome;
  }

  TempFolder folder;
  int port = 0;
  std::string certificate{};  // for TLS
  std::string private_key{};
  std::unique_ptr<server::Daemon> daemon;
  std::string url;
  std::string application = token("application");
};

inline Policy quick(Policy policy = {}) {
  policy.backoff = Fixed{std::chrono::milliseconds{20}};
  policy.never_retry = {type<Closed>()};
  return policy;
}

template <class Call>
std::string refusal(const Call& call) {
  try {
    call();
  } catch (const std::exception& e) {
    return e.what();
  }
  return "accepted";
}

}  // namespace easyretry::test
