// Each task has a class, said by the submission, or by the options of its handler.
#include <iostream>

#include <easyretry/testing.h>

using namespace easyretry;

int main() {
  testing::ManualEngine engine{EngineOptions{.log = nullptr}};
  const auto print_class = [](int number) {
    std::cout << "mail " << number << " is " << to_string(current_task()->info.task_class) << "\n";
  };
  auto send = engine.retryable("mail.send", print_class);
  HandlerOptions in_background;
  in_background.task_class = TaskClass::background;
  auto report = engine.retryable("mail.report", print_class, Policy{}, in_background);

  send.with({.task_class = TaskClass::urgent}).submit(1);
  engine.drain();
  send.submit(2);
  engine.drain();
  report.submit(3);
  engine.drain();
}

// Prints:
// mail 1 is urgent
// mail 2 is normal
// mail 3 is background
