// Produces and runs messages of mx-rmq, the Python queue on Redis, from C++, beside workers in Python.
//
//   mxrmq HOST PORT USER PASSWORD DATABASE
#include <iostream>
#include <thread>

#include <easyretry/easyretry.h>
#include <easyretry/mxrmq.h>

using namespace easyretry;
using namespace std::chrono_literals;

struct Order {
  std::string id;
  int amount = 0;
};
EASYRETRY_JSON(Order, id, amount)

int main(int argc, char** argv) {
  if (argc != 6) {
    std::cerr << "usage: mxrmq HOST PORT USER PASSWORD DATABASE\n";
    return 2;
  }
  const std::string url = std::string{"mxrmq://"} + argv[3] + ":" + argv[4] + "@" + argv[1] + ":" + argv[2] + "/" +
                          argv[5] + "?prefix=example";

  mxrmq::Queue queue{url};
  mxrmq::Worker worker{url};
  int refusals = 2;
  worker.on<Order>("orders", [&](const Order& order) {
    if (order.amount > 100 && refusals-- > 0) throw std::runtime_error("card refused");
    std::cout << order.id << " is paid\n";
  });
  int closed = 1;
  worker.on<Order>("refunds", [&](const Order& order) -> Answer {
    if (closed-- > 0) return retry_after(100ms, "the bank is closed");  // overrides the minute in the message
    std::cout << order.id << " is refunded\n";
    return done();
  });
  worker.start();

  queue.produce("orders", Order{"order-1", 20});  // FIFO
  while (worker.stats().completed < 1) std::this_thread::sleep_for(1ms);
  queue.produce_after(100ms, "orders", Order{"order-2", 30});  // later
  while (worker.stats().completed < 2) std::this_thread::sleep_for(1ms);

  // Two attempts, both refused: the message becomes a dead letter, with the error. Then it gets two more attempts.
  const auto id = queue.produce("orders", Order{"order-3", 500}, {.max_retries = 2, .retry_delays = {0s}});
  while (worker.stats().dead < 1) std::this_thread::sleep_for(1ms);
  std::cout << "order-3 is a dead letter after " << worker.stats().retried + worker.stats().dead << " attempts\n";
  queue.requeue(id);
  while (worker.stats().completed < 3) std::this_thread::sleep_for(1ms);

  queue.produce("refunds", Order{"order-3", 500});  // the first delay in the message is a minute
  while (worker.stats().completed < 4) std::this_thread::sleep_for(1ms);
  worker.stop();
}

// Prints:
// order-1 is paid
// order-2 is paid
// order-3 is a dead letter after 2 attempts
// order-3 is paid
// order-3 is refunded
