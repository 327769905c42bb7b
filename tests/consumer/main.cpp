// An application that adds EasyRetry to its project as the README says; see consumer_test.py.
#include <iostream>
#include <string>

#include <easyretry/easyretry.h>
using namespace easyretry;

struct Order {
  std::string id;
  double amount;
};
EASYRETRY_JSON(Order, id, amount)

int main() {
  Engine engine{"sqlite:orders.db"};
  auto pay = engine.retryable("payment.pay", [](const Order& order) { return order.amount; });
  const auto paid = pay(Order{"order-42", 9.5});
  std::cout << "paid " << *paid << "\n";
}
