#pragma once
// A payment gateway on a bad day.

#include <chrono>
#include <mutex>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>

#include <easyretry/easyretry.h>

struct Order {
  std::string id;
  double amount;
};
EASYRETRY_JSON(Order, id, amount)

struct Receipt {
  int code;
  std::string number;
};
EASYRETRY_JSON(Receipt, code, number)

struct GatewayTimeout : std::runtime_error {
  using std::runtime_error::runtime_error;
};
struct CardRefused : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class Gateway {
 public:
  // Half of the calls time out, some answer "busy", a few cards are refused for good.
  Receipt pay(const Order& order) {
    const double dice = roll();
    std::this_thread::sleep_for(std::chrono::milliseconds{10 + static_cast<int>(40 * dice)});
    if (dice < 0.50) throw GatewayTimeout("no answer from the gateway");
    if (dice < 0.60) return {503, ""};
    if (dice < 0.63) throw CardRefused("card refused");
    return {200, "R-" + order.id};
  }

 private:
  double roll() {
    const std::lock_guard lock{mutex_};
    return std::uniform_real_distribution{}(random_);
  }
  std::mutex mutex_;
  std::mt19937 random_{std::random_device{}()};
};
