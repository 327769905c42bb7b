// Sends one webhook: webhook_peer URL KEY AGE SECRET… <body
//
// AGE is how many seconds ago it was signed. Prints the status of the answer, or why no answer came.

#include <future>
#include <iostream>
#include <iterator>

#include "webhook/caller.h"
#include "webhook/delivery.h"

int main(int argc, char** argv) {
  using namespace easyretry;
  using namespace easyretry::webhook;
  if (argc < 5) {
    std::cerr << "usage: webhook_peer URL KEY AGE SECRET… <body\n";
    return 2;
  }
  const Endpoint endpoint{.url = argv[1], .secrets = {argv + 4, argv + argc}};
  const Delivery delivery{.task_id = "7301234567890",
                          .task_key = argv[2],
                          .handler = "payment.pay",
                          .body = {std::istreambuf_iterator<char>{std::cin}, {}}};
  const TimePoint signed_at = system_clock().now() - std::chrono::seconds{std::stoi(argv[3])};
  Caller caller{{.guard = Guard{{"127.0.0.1"}}}};
  std::promise<CallResult> promise;
  caller.start(to_call(delivery, endpoint, signed_at, {}),
               [&](CallResult heard) { promise.set_value(std::move(heard)); });
  const CallResult heard = promise.get_future().get();
  std::cout << (heard ? std::to_string(heard->status) : to_string(heard.error())) << "\n";
}
