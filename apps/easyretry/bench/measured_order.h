#pragma once
// The task that benchmarks move around: about 100 bytes of arguments, each different.

#include <string>

#include <easyretry/json.h>

namespace easyretry::app {

struct MeasuredOrder {
  std::int64_t number = 0;
  std::string customer;
  double amount = 0;
};
EASYRETRY_JSON(MeasuredOrder, number, customer, amount)

inline MeasuredOrder measured_order(std::int64_t number) {
  return {number, "customer-" + std::to_string(number % 1000) + "@example.com, 221B Baker Street, London", 9.99};
}

}  // namespace easyretry::app
