// Pays orders through a flaky gateway. Payments that fail are stored, retried, and finally made or reported. Kill the
// program at any moment and start it again: nothing is lost.
#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <thread>

#include "gateway.h"
#include "ledger.h"
#include "live_view.h"

using namespace easyretry;
using namespace std::chrono_literals;

namespace {

volatile std::sig_atomic_t interrupted = 0;

struct Arguments {
  int orders = 60;
  int per_second = 20;
  std::string folder = ".";
};

constexpr const char* kUsage = R"(usage: payment [--orders N] [--per-second N] [--folder DIR]

  --orders N       new orders to accept before waiting for the open ones (default 60; 0: only finish what is open)
  --per-second N   how fast they come in (default 20)
  --folder DIR     where payment.db and the books of shop and gateway live (default: here)
)";

int number(const char* text, const std::string& flag) {
  char* end = nullptr;
  const long value = std::strtol(text, &end, 10);
  if (end == text || *end != '\0' || value < 0 || value > 1'000'000) {
    throw std::invalid_argument(flag + " wants a number from 0 to 1000000, not \"" + text + "\"");
  }
  return static_cast<int>(value);
}

Arguments parse(int argc, char** argv) {
  Arguments arguments;
  for (int i = 1; i < argc; ++i) {
    const std::string flag = argv[i];
    if (flag == "--help" || flag == "-h") {
      std::cout << kUsage;
      std::exit(0);
    }
    if (i + 1 == argc || (flag != "--orders" && flag != "--per-second" && flag != "--folder")) {
      throw std::invalid_argument("cannot understand \"" + flag + "\"\n" + kUsage);
    }
    const char* value = argv[++i];
    if (flag == "--orders") arguments.orders = number(value, flag);
    if (flag == "--per-second") arguments.per_second = std::max(1, number(value, flag));
    if (flag == "--folder") arguments.folder = value;
  }
  return arguments;
}

void run(const Arguments& arguments) {
  std::filesystem::create_directories(arguments.folder);
  Ledger ledger{arguments.folder + "/payment-ledger.txt"};
  Gateway gateway{arguments.folder + "/payment-gateway.txt"};

  Engine engine{"sqlite:" + arguments.folder + "/payment.db", {.workers = 8, .lease = 5s}};
  auto pay = engine.retryable(
      "payment.pay", [&](const Order& order) { return gateway.pay(order); },
      Policy{.backoff = Exponential{.first = 200ms, .cap = 5s, .jitter = 200ms},
             .stop = {.max_attempts = 8, .max_duration = 10min},
             .never_retry = {type<CardRefused>()},
             .success_when = "result.code == 200"});
  pay.on_success([&](const Receipt& receipt, const TaskInfo& task) { ledger.paid(task.business_id, receipt.number); });
  pay.on_final_failure(
      [&](const Failure& failure, const TaskInfo& task) { ledger.failed(task.business_id, failure.message); });
  engine.start();

  LiveView view;
  if (const auto open = ledger.summary().open(); open > 0) {
    view.note(std::to_string(open) + " orders were open when the program ended; they go on");
  }
  int accepted = 0;
  auto next_order = std::chrono::steady_clock::now();
  while (interrupted == 0 && (accepted < arguments.orders || ledger.summary().open() > 0)) {
    for (; accepted < arguments.orders && next_order <= std::chrono::steady_clock::now(); ++accepted) {
      const std::string id = std::to_string(std::chrono::system_clock::now().time_since_epoch().count());
      pay.with({.key = "order-" + id, .business_type = "order", .business_id = id}).submit(Order{id, 9.99});
      ledger.accepted(id);
      next_order += 1000ms / arguments.per_second;
    }
    view.draw(ledger, engine.stats());
    std::this_thread::sleep_for(accepted < arguments.orders ? 20ms : 200ms);
  }
  engine.stop();
  view.end(ledger, engine.stats());
  if (ledger.summary().open() > 0) std::cout << "stopped; start again to go on with the open orders\n";
}

}  // namespace

int main(int argc, char** argv) {
  std::signal(SIGINT, [](int) { interrupted = 1; });
  std::signal(SIGTERM, [](int) { interrupted = 1; });
  try {
    run(parse(argc, argv));
    return 0;
  } catch (const std::exception& e) {
    std::cerr << "payment: " << e.what() << "\n";
    return 1;
  }
}
