#pragma once
// What the tests of calls share: an engine that keeps quiet, orders to pay, and ways for that to fail.

#include <concepts>
#include <stdexcept>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <easyretry/testing.h>

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

// What `call` throws, in its own words.
template <std::derived_from<std::exception> Thrown = std::exception, class Call>
std::string refusal(const Call& call) {
  try {
    call();
  } catch (const Thrown& e) {
    return e.what();
  }
  return "accepted";
}

}  // namespace easyretry::test
