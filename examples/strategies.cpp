// The five persist strategies side by side: the result of pay(order) for its caller, and the row in the store over
// time.
#include <iomanip>
#include <iostream>

#include <easyretry/testing.h>

using namespace easyretry;
using namespace std::chrono_literals;

struct Busy : std::runtime_error {
  using std::runtime_error::runtime_error;
};
struct Closed : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// The gateway's first answer. From the second call on, it answers 200.
struct Gateway {
  const char* name;
  std::function<int()> first_call;
};
const std::vector<Gateway> kGateways{{"answers 200", [] { return 200; }},
                                     {"busy once", []() -> int { throw Busy("busy"); }},
                                     {"answers 500 once", [] { return 500; }},
                                     {"account closed", []() -> int { throw Closed("closed"); }}};

std::string row_in(const Engine& engine, const testing::EventRecorder& events) {
  const auto heard = events.all();
  const auto task = heard.empty() ? std::nullopt : engine.find(heard.back().task.id);
  if (!task) return "none";
  if (task->outcome) return "history: " + std::string{to_string(*task->outcome)};
  return std::string{to_string(task->state)} + ", attempts " + std::to_string(task->attempts);
}

template <class Call>
std::string what_the_caller_gets(Call call) {
  try {
    const Attempt<int> paid = call();
    switch (paid.state()) {
      case AttemptState::succeeded: return "succeeded, " + std::to_string(*paid);
      case AttemptState::stored: return "stored";
      case AttemptState::retrying: return "retrying";
      case AttemptState::failed: return "failed, " + std::to_string(*paid);
    }
  } catch (const std::exception& e) {
    return std::string{"throws \""} + e.what() + "\"";
  }
  return {};
}

void show(const Gateway& gateway, const HandlerOptions& options) {
  testing::ManualEngine engine;
  const testing::EventRecorder events{engine};
  int calls = 0;
  std::string during;
  const auto call = [&](const std::string&) {
    if (++calls > 1) return 200;
    during = row_in(engine, events);
    return gateway.first_call();
  };
  const Policy policy{.backoff = Fixed{10s}, .never_retry = {type<Closed>()}, .success_when = "result == 200"};
  auto pay = engine.retryable("pay", call, policy, options);

  const std::string caller = what_the_caller_gets([&] { return pay("order-7"); });
  const std::string after = row_in(engine, events);
  engine.drain();
  std::cout << std::left << "  " << std::setw(18) << gateway.name << std::setw(21) << during << std::setw(17) << caller
            << std::setw(21) << after << std::setw(20) << row_in(engine, events) << calls << "\n";
}

int main() {
  const std::vector<std::pair<const char*, HandlerOptions>> strategies{
      {"retry_only", {.persist = Persist::retry_only}},
      {"on_failure", {.persist = Persist::on_failure}},
      {"always", {.persist = Persist::always}},
      {"manual", {.persist = Persist::manual}},
      {"never", {.persist = Persist::never}},
      {"never, .wait = false", {.persist = Persist::never, .wait = false}}};
  std::cout
      << "                    row while it runs    the caller gets  row then             row in the end      calls\n";
  for (const auto& [name, options] : strategies) {
    std::cout << name << "\n";
    for (const Gateway& gateway : kGateways) show(gateway, options);
  }

  // manual: nothing is stored until the caller stores it.
  testing::ManualEngine engine;
  auto pay = engine.retryable("pay", [](const std::string&) { return 200; }, {}, {.persist = Persist::manual});
  const TaskId task = pay.store("order-7", "the step before it failed");
  std::cout << "pay.store(order, why): " << to_string(engine.find(task)->state) << ", " << engine.find(task)->last_error
            << "\n";
  engine.drain();
  std::cout << "in the end: " << to_string(*engine.find(task)->outcome) << "\n";
}

// Prints:
//                     row while it runs    the caller gets  row then             row in the end      calls
// retry_only
//   answers 200       none                 succeeded, 200   none                 none                1
//   busy once         none                 stored           pending, attempts 1  history: succeeded  2
//   answers 500 once  none                 stored           pending, attempts 1  history: succeeded  2
//   account closed    none                 throws "closed"  none                 none                1
// on_failure
//   answers 200       none                 succeeded, 200   none                 none                1
//   busy once         none                 stored           pending, attempts 1  history: succeeded  2
//   answers 500 once  none                 stored           pending, attempts 1  history: succeeded  2
//   account closed    none                 throws "closed"  history: rejected    history: rejected   1
// always
//   answers 200       running, attempts 1  succeeded, 200   history: succeeded   history: succeeded  1
//   busy once         running, attempts 1  stored           pending, attempts 1  history: succeeded  2
//   answers 500 once  running, attempts 1  stored           pending, attempts 1  history: succeeded  2
//   account closed    running, attempts 1  throws "closed"  history: rejected    history: rejected   1
// manual
//   answers 200       none                 succeeded, 200   none                 none                1
//   busy once         none                 throws "busy"    none                 none                1
//   answers 500 once  none                 failed, 500      none                 none                1
//   account closed    none                 throws "closed"  none                 none                1
// never
//   answers 200       none                 succeeded, 200   none                 none                1
//   busy once         none                 succeeded, 200   none                 none                2
//   answers 500 once  none                 succeeded, 200   none                 none                2
//   account closed    none                 throws "closed"  none                 none                1
// never, .wait = false
//   answers 200       none                 succeeded, 200   none                 none                1
//   busy once         none                 retrying         none                 none                2
//   answers 500 once  none                 retrying         none                 none                2
//   account closed    none                 throws "closed"  none                 none                1
// pay.store(order, why): pending, the step before it failed
// in the end: succeeded
