// The process that the kill test kills: kill_worker STORE_URL FOLDER LIFE NEW_TASKS [MEMBERSHIP]
//
// Submits NEW_TASKS new tasks, works on whatever is in the store, and writes its journal. Ends by itself when nothing
// is left to do and it was given no new tasks.

#include <iostream>
#include <thread>

#include <easyretry/easyretry.h>

#include "fault/journal.h"

using namespace easyretry;

namespace {

class Worker {
 public:
  Worker(const std::string& url, const std::filesystem::path& folder, int life, const std::string& membership)
      : life_(life), journal_(fault::journal_path(folder, life)), engine_(url, options(membership)) {
    auto work = engine_.retryable(
        "work", [this](int number) { return run(number); },
        Policy{.backoff = Fixed{20ms, 20ms}, .stop = {.max_attempts = 3}});
    work.on_success([this](const TaskInfo& task) { journal_.write("success " + task.key); });
    work.on_final_failure([this](const Failure&, const TaskInfo& task) { journal_.write("failure " + task.key); });
    engine_.start();
    work_ = work;
  }

  // Half of them one by one, half in batches.
  void submit(int tasks) {
    constexpr int kBatch = 50;
    for (int i = 0; i < tasks / 2; ++i) store({number(i)});
    for (int from = tasks / 2; from < tasks; from += kBatch) {
      std::vector<int> numbers;
      for (int i = from; i < std::min(tasks, from + kBatch); ++i) numbers.push_back(number(i));
      store(numbers);
    }
  }

  void finish(const std::function<bool()>& done) {
    while (!done()) std::this_thread::sleep_for(20ms);
    engine_.stop();
  }

  const Engine& engine() const { return engine_; }

 private:
  static constexpr int kPerLife = 1'000'000;

  static EngineOptions options(const std::string& membership) {
    EngineOptions options;
    options.membership = membership;
    options.workers = 4;
    options.window = 1s;
    options.lease = 1s;
    options.max_crashes = 1000;  // the process is killed for reasons that are not the task's fault
    return options;
  }

  int number(int i) const { return life_ * kPerLife + i; }
  static std::string key(int number) { return "task-" + std::to_string(number); }

  // Nothing was done is tried again until it works; what is in doubt is not: were it there and had ended meanwhile, it
  // would be a second task.
  void store(const std::vector<int>& numbers) {
    while (true) {
      try {
        work_->submit_many(numbers, [](int n) { return SubmitOptions{.key = key(n)}; });
        return note("ack ", numbers);
      } catch (const StoreError& error) {
        if (error.code() == Errc::in_doubt) return note("doubt ", numbers);
        if (error.code() != Errc::unavailable) throw;
      }
      std::this_thread::sleep_for(20ms);
    }
  }

  void note(const std::string& what, const std::vector<int>& numbers) {
    for (const int n : numbers) journal_.write(what + key(n));
  }

  Answer run(int number) {
    const TaskInfo& task = current_task()->info;
    const std::string mark = to_string(task.id) + " " + std::to_string(task.version) + " ";
    journal_.write("start " + mark + std::to_string(fault::wall_micros()));
    if (number % 20 == 2) std::this_thread::sleep_for(10ms);
    journal_.write("end " + mark + std::to_string(fault::wall_micros()));
    if (number % 10 == 0) return retry_later("always fails");
    if (number % 10 == 1 && task.attempts == 1) return retry_later("fails once");
    return done();
  }

  const int life_;
  fault::JournalWriter journal_;
  Engine engine_;
  std::optional<Retryable<Answer, std::tuple<int>>> work_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5 && argc != 6) {
    std::cerr << "usage: kill_worker STORE_URL FOLDER LIFE NEW_TASKS [MEMBERSHIP]\n";
    return 2;
  }
  try {
    const int tasks = std::stoi(argv[4]);
    Worker worker{argv[1], argv[2], std::stoi(argv[3]), argc == 6 ? argv[5] : "store"};
    worker.submit(tasks);
    const auto idle_since = std::make_shared<std::pair<std::uint64_t, Instant>>(0, std::chrono::steady_clock::now());
    worker.finish([&] {
      // Working while killed is the point; the last life ends when nothing has happened for three leases.
      const std::uint64_t claimed = worker.engine().stats().claimed;
      const Instant now = std::chrono::steady_clock::now();
      if (claimed != idle_since->first || worker.engine().stats().running > 0) *idle_since = {claimed, now};
      return tasks == 0 && now - idle_since->second > 3s;
    });
    return 0;
  } catch (const std::exception& e) {
    std::cerr << "kill_worker: " << e.what() << "\n";
    return 1;
  }
}
