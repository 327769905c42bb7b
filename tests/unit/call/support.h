#pragma once
// Common setup of the call tests: an engine that logs nothing, orders to pay, and payments that fail.

#include <concepts>
#include <stdexcept>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <easyretry/testing.h>

#include "support/refusal.h"

namespace easyretry::test {

using easyretry::testing::ManualEngine;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

inline EngineOptions quiet() {
  EngineOptions options;
  options.log = nullptr;
  return options;
}

struct Order {
  std::string id;
  double amount = 0;
};
EASYRETRY_JSON(Order, id, amount)

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

}  // namespace easyretry::test
