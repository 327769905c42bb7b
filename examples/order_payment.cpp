// A payment in an online shop: at most five attempts with growing delays, all within an hour and before the order
// expires. The gateway's status code says whether it worked.
#include <iostream>

#include <easyretry/testing.h>

using namespace easyretry;
using namespace std::chrono_literals;

struct Order {
  std::string id;
  int cents = 0;
  TimePoint expires{};
};
EASYRETRY_JSON(Order, id, cents, expires)

struct Receipt {
  int code = 0;
};
EASYRETRY_JSON(Receipt, code)

struct CardRefused : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class Shop {
 public:
  explicit Shop(testing::ManualEngine& engine) : clock_(engine.clock()), begun_(clock_.now()), pay_(pay_by(engine)) {
    pay_.on_success([this](const Receipt&, const TaskInfo& task) { say(task.business_id + " is paid"); });
    pay_.on_final_failure([this](const Failure& failure, const TaskInfo& task) {
      say(task.business_id + " is not paid\n     " + failure.message);
    });
  }

  void check_out(const Order& order) {
    try {
      auto paid = pay_.with({.business_type = "order", .business_id = order.id, .deadline = order.expires})(order);
      if (paid.stored()) say(order.id + ": \"we will tell you when it is paid\"");
    } catch (const CardRefused& e) {
      say(order.id + ": \"please use another card\", " + e.what());
    }
  }

  std::vector<int> codes;  // the gateway's next answers; 0: none within its time limit

 private:
  Retryable<Receipt, std::tuple<Order>> pay_by(Engine& engine) {
    return engine.retryable(
        "payment.pay", [this](const Order& order) { return ask_gateway(order); },
        Policy{.backoff = Exponential{.first = 1s, .cap = 5min, .jitter = Jitter::none()},
               .stop = {.max_attempts = 5, .max_duration = 1h},
               .never_retry = {type<CardRefused>()},
               .success_when = "result.code == 200"},
        HandlerOptions{.timeout = 10s, .persist = Persist::on_failure});
  }

  Receipt ask_gateway(const Order& order) {
    const int code = codes.empty() ? 0 : codes.front();
    if (!codes.empty()) codes.erase(codes.begin());
    say(order.id + ": gateway answers " + (code == 0 ? "nothing" : std::to_string(code)));
    if (code == 0) throw std::runtime_error("gateway timeout");
    if (code == 402) throw CardRefused("insufficient funds");
    return {code};
  }

  void say(const std::string& text) const {
    std::cout << (clock_.now() - begun_).count() / 1000 << " s  " << text << "\n";
  }

  const Clock& clock_;
  TimePoint begun_;
  Retryable<Receipt, std::tuple<Order>> pay_;
};

int main() {
  testing::ManualEngine engine;
  Shop shop{engine};
  const TimePoint noon = engine.clock().now();
  testing::EventRecorder events{engine};

  shop.codes = {0, 503, 200};
  shop.check_out({"order-1", 999, noon + 30min});
  engine.drain();

  shop.codes = {402};
  shop.check_out({"order-2", 999, noon + 30min});
  std::cout << "on_failure: " << to_string(events.all().back().kind) << ", "
            << to_string(*events.all().back().task.outcome) << "\n";

  shop.codes = {};
  shop.check_out({"order-3", 999, engine.clock().now() + 10s});
  engine.drain();
}

// Prints:
// 0 s  order-1: gateway answers nothing
// 0 s  order-1: "we will tell you when it is paid"
// 2 s  order-1: gateway answers 503
// 6 s  order-1: gateway answers 200
// 6 s  order-1 is paid
// 6 s  order-2: gateway answers 402
// 6 s  order-2: "please use another card", insufficient funds
// on_failure: gave up, rejected
// 6 s  order-3: gateway answers nothing
// 6 s  order-3: "we will tell you when it is paid"
// 8 s  order-3: gateway answers nothing
// 12 s  order-3: gateway answers nothing
// 12 s  order-3 is not paid
//      gateway timeout (the next attempt would start at 2025-01-01T00:00:20.000Z (deadline = 2025-01-01T00:00:16.000Z))
