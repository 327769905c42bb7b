// Our side in the tests with the original mx-rmq:
//   mxrmq_peer URL produce TOPIC PAYLOAD [DELAY_SECONDS]    prints the id
//   mxrmq_peer URL requeue ID                               prints yes or no
//   mxrmq_peer URL work TOPIC ok|fail|later|hang            prints what it runs; fail throws, later asks for three
//                                                           seconds, hang never ends

#include <iostream>
#include <mutex>
#include <string>

#include <unistd.h>

#include <easyretry/mxrmq.h>

using namespace easyretry;
using namespace std::chrono_literals;

namespace {

void work(const std::string& url, const std::string& topic, const std::string& how) {
  std::mutex mutex;
  mxrmq::WorkerOptions options;
  options.lease = 1s;
  options.poll = 50ms;
  options.reap = how == "hang" ? Millis{1h} : Millis{200ms};
  mxrmq::Worker worker{url, options};
  worker.on(topic, [&](const mxrmq::Delivery& message) -> Answer {
    {
      const std::lock_guard lock{mutex};
      std::cout << message.id << " " << message.retry_count << " " << message.payload << std::endl;
    }
    if (how == "fail") throw std::runtime_error("card refused: Gültigkeit");
    if (how == "later") return retry_after(3s, "closed");
    if (how == "hang") ::pause();
    return done();
  });
  worker.start();
  ::pause();
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> words{argv + 1, argv + argc};
  if (words.size() < 3) return 2;
  if (words[1] == "work") {
    work(words[0], words[2], words.at(3));
  } else if (words[1] == "requeue") {
    std::cout << (mxrmq::Queue{words[0]}.requeue(words[2]) ? "yes" : "no") << "\n";
  } else {
    const mxrmq::ProduceOptions options{.retry_delays = {1s}};
    const auto delay = std::chrono::seconds{words.size() > 4 ? std::stoi(words[4]) : 0};
    std::cout << mxrmq::Queue{words[0]}.produce_after(delay, words[2], words.at(3), options) << "\n";
  }
}
