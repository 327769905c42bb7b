// An application whose tasks are in a daemon, `easyretry serve`. It opens no database; everything else is as with an
// Engine on a store. The tests run it as: remote http://127.0.0.1:7077 TOKEN_FILE
#include <future>
#include <iostream>

#include <easyretry/easyretry.h>
#include <easyretry/remote_engine.h>

using namespace easyretry;
using namespace std::chrono_literals;

struct Order {
  std::string id;
  int cents = 0;
};
EASYRETRY_JSON(Order, id, cents)

struct Gateway {
  int calls = 0;
  int pay(const Order& order) {
    if (++calls < 3) throw std::runtime_error("the gateway is busy");
    return order.cents;
  }
};

int main(int argc, char** argv) {
  if (argc != 3) {
    std::cerr << "usage: remote http://127.0.0.1:7077 TOKEN_FILE\n";
    return 1;
  }
  Gateway gateway;
  std::promise<void> told;

  RemoteEngine engine{argv[1], {.token_file = argv[2]}};
  auto pay = engine.retryable("payment.pay", &Gateway::pay, &gateway,
                              Policy{.backoff = Fixed{50ms}, .stop = {.max_attempts = 5}});
  pay.on_success([&](int cents, const TaskInfo& task) {
    std::cout << "paid " << cents << " after " << task.attempts << " attempts\n";
    told.set_value();
  });
  engine.start();

  const auto paid = pay({"o-1", 4200});
  std::cout << (paid.stored() ? "stored: " : "not stored: ") << paid.error() << "\n";
  told.get_future().wait();
  engine.stop();

  const auto ended = engine.find(paid.task());
  std::cout << "the daemon says: " << (ended && ended->outcome ? to_string(*ended->outcome) : "not ended") << "\n";
}

// Prints:
// stored: the gateway is busy
// paid 4200 after 3 attempts
// the daemon says: succeeded
