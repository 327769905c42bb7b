// The process that the tests of mx-rmq kill: mxrmq_worker QUEUE_URL hang|work
//
// Takes messages of the topic orders. "hang" says that it holds one and never ends; "work" says what it has run.

#include <iostream>
#include <mutex>
#include <string>

#include <unistd.h>

#include <easyretry/mxrmq.h>

using namespace easyretry;
using namespace std::chrono_literals;

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const bool hangs = std::string{argv[2]} == "hang";
  std::mutex mutex;
  const auto say = [&](const std::string& line) {
    const std::lock_guard lock{mutex};
    std::cout << line << std::endl;
  };
  mxrmq::WorkerOptions options;
  options.lease = 500ms;
  options.poll = 20ms;
  options.reap = 50ms;
  mxrmq::Worker worker{argv[1], options};
  worker.on("orders", [&](const mxrmq::Delivery& message) {
    if (!hangs) return say("ran " + message.id);
    say("holding " + message.id);
    ::pause();
  });
  worker.start();
  ::pause();
}
