// An application of a daemon. Tests kill it: remote_worker URL TOKEN_FILE JOURNAL call FIRST COUNT
//                                            remote_worker URL TOKEN_FILE JOURNAL work LEASE_MS TAKES_MS
// `call` makes direct calls that fail, and writes those that were stored to the journal. `work` runs their retries, and
// writes when each begins and ends. Each line is one write, so that a kill leaves whole lines.
#include <iostream>
#include <thread>

#include <fcntl.h>
#include <unistd.h>

#include <easyretry/easyretry.h>
#include <easyretry/remote_engine.h>

using namespace easyretry;
using namespace std::chrono_literals;

namespace {

class Journal {
 public:
  explicit Journal(const char* file) : fd_(::open(file, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600)) {}
  void write(const std::string& line) const {
    const std::string text = line + "\n";
    if (::write(fd_, text.data(), text.size()) != static_cast<ssize_t>(text.size())) std::abort();
  }

 private:
  const int fd_;
};

void call(const RetryableFn<void(int)>& pay, const Journal& journal, int first, int count) {
  for (int number = first; number < first + count;) {
    try {
      if (pay(number).stored()) journal.write("stored " + std::to_string(number));
      ++number;
    } catch (const StoreError&) {
      std::this_thread::sleep_for(20ms);  // the task is not stored, or may not be; the caller repeats the call
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 7) return 2;
  const Journal journal{argv[3]};
  const bool works = std::string{argv[4]} == "work";
  RemoteOptions options{.token_file = argv[2]};
  options.engine.log = nullptr;
  if (works) options.engine.lease = Millis{std::stoi(argv[5])};
  RemoteEngine engine{argv[1], options};
  const auto pay = engine.retryable(
      "pay",
      [&](int number) {
        const TaskContext* task = current_task();
        if (task == nullptr) throw std::runtime_error("the first attempt fails");
        const std::string what = std::to_string(number) + " " + std::to_string(task->info.version);
        journal.write("begin " + what);
        std::this_thread::sleep_for(Millis{std::stoi(argv[6])});
        journal.write("end " + what);
      },
      Policy{.backoff = Fixed{1ms}});
  if (works) {
    engine.start();
    std::cout << "works" << std::endl;
    std::cin.get();  // runs until the test stops or kills it
  } else {
    call(pay, journal, std::stoi(argv[5]), std::stoi(argv[6]));
  }
}
