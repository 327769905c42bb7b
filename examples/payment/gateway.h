#pragma once
// A payment gateway on a bad day. It decides once about an order and repeats that answer: when a call is retried that
// had already reached it, the order must not be paid twice, nor refused after it was paid. Every real gateway offers
// that, by the order's number.

#include <chrono>
#include <fstream>
#include <map>
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
  explicit Gateway(const std::string& path) {
    std::ifstream earlier{path};
    for (std::string order, verdict; earlier >> order >> verdict;) verdicts_[order] = verdict;
    file_.open(path, std::ios::app);
  }

  // Half of the calls time out, some get "busy", and a few cards are refused permanently.
  Receipt pay(const Order& order) {
    const double dice = roll();
    std::this_thread::sleep_for(std::chrono::milliseconds{10 + static_cast<int>(40 * dice)});
    std::string verdict = earlier_verdict(order);
    if (verdict.empty()) {
      if (dice < 0.50) throw GatewayTimeout("no answer from the gateway");
      if (dice < 0.60) return {503, ""};
      verdict = dice < 0.63 ? "refused" : "paid";
      write(order, verdict);
    }
    if (verdict == "refused") throw CardRefused("card refused");
    return {200, "R-" + order.id};
  }

 private:
  double roll() {
    const std::lock_guard lock{mutex_};
    return std::uniform_real_distribution{}(random_);
  }
  std::string earlier_verdict(const Order& order) {
    const std::lock_guard lock{mutex_};
    const auto there = verdicts_.find(order.id);
    return there == verdicts_.end() ? "" : there->second;
  }
  void write(const Order& order, const std::string& verdict) {
    const std::lock_guard lock{mutex_};
    verdicts_[order.id] = verdict;
    file_ << order.id << ' ' << verdict << std::endl;
  }

  std::mutex mutex_;
  std::mt19937 random_{std::random_device{}()};
  std::map<std::string, std::string> verdicts_;  // by order
  std::ofstream file_;
};
