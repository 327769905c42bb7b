#pragma once
// pay(order) through a gateway whose answers the test sets.

#include <functional>
#include <string>
#include <vector>

#include "unit/call/support.h"

namespace easyretry::test {

using namespace std::chrono_literals;

struct DirectCall : ::testing::Test {
  // A gateway that fails as often as asked, then answers 200.
  auto gateway() {
    return [this](const Order& order) {
      ++calls;
      if (during) during(order);
      if (busy > 0) {
        --busy;
        throw Busy("the gateway is busy");
      }
      if (closed) throw Closed("the account is closed");
      return Receipt{bad_codes-- > 0 ? 500 : 200};
    };
  }

  auto pay_with(Persist persist, Policy policy = {}) {
    policy.backoff = Fixed{10s};
    policy.never_retry = {type<Closed>()};
    auto pay = engine.retryable("pay", gateway(), policy, {.persist = persist});
    pay.on_success([this](const Receipt& receipt, const TaskInfo&) { told.push_back(std::to_string(receipt.code)); });
    pay.on_final_failure([this](const Failure& failure, const TaskInfo&) { told.push_back(failure.message); });
    return pay;
  }

  std::size_t live() const {
    const auto stats = engine.stats();
    return stats.stored - stats.succeeded - stats.exhausted - stats.rejected - stats.cancelled;
  }

  ManualEngine engine{quiet()};
  std::function<void(const Order&)> during;
  int calls = 0;
  int busy = 0;
  int bad_codes = 0;
  bool closed = false;
  std::vector<std::string> told;
};

}  // namespace easyretry::test
