// The program of docs/tutorial.md: sends a mail as soon as there is a mail server.
//
//   tutorial [ADDRESS]     without an address, it only runs tasks that are already stored
#include <filesystem>
#include <iostream>
#include <thread>

#include <easyretry/easyretry.h>
using namespace easyretry;
using namespace std::chrono_literals;

void say(const std::string& line) {
  std::cout << line << std::endl;
}

void send_mail(const std::string& address) {
  if (!std::filesystem::exists("mail-server")) throw std::runtime_error("no mail server");
  say("sent a mail to " + address);
}

int main(int argc, char** argv) {
  Engine engine{"sqlite:tutorial.db"};
  auto mail = engine.retryable("mail.send", send_mail, Policy{.backoff = Fixed{5s}, .stop = {.max_attempts = 3}});
  mail.on_retry_scheduled([](const std::string& error, const TaskInfo&) { say(error + ", retrying"); });
  mail.on_final_failure([](const Failure& why, const TaskInfo&) { say("gave up: " + why.message); });
  engine.start();

  if (argc > 1) mail.submit(argv[1]);                              // on disk before this returns
  while (engine.count({}) > 0) std::this_thread::sleep_for(50ms);  // until no task is left
}
