#pragma once
// Tests of engines on a daemon whose store is SQLite.

#include <atomic>
#include <fstream>
#include <memory>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <easyretry/easyretry.h>
#include <easyretry/remote_engine.h>

#include "support/eventually.h"
#include "support/refusal.h"
#include "support/test_daemon.h"

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

struct RemoteTest : ::testing::Test, TestDaemon {
  // A state that the daemon shows for the task.
  bool ended(const Engine& engine, TaskId id, Outcome outcome) const {
    const auto task = engine.find(id);
    return task && task->state == TaskState::finished && task->outcome == outcome;
  }
};

inline Policy quick(Policy policy = {}) {
  policy.backoff = Fixed{std::chrono::milliseconds{20}};
  policy.never_retry = {type<Closed>()};
  return policy;
}

}  // namespace easyretry::test
