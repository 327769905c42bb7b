// The process that the kill test kills: kill_worker STORE_URL FOLDER LIFE NEW_TASKS
//
// Submits NEW_TASKS new tasks, runs the tasks of the store, and writes its journal. Without new tasks it ends by itself
// when nothing is left to do. EASYRETRY_* variables change the options of its engine, SLOW_MILLIS is the time that slow
// tasks take, EACH_MILLIS that of the others, HANDLER the handler to run instead of "work", POISON the tasks that kill
// the process: "17,40".

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <iostream>
#include <set>
#include <sstream>
#include <thread>

#include <easyretry/config.h>
#include <easyretry/easyretry.h>

#include "fault/journal.h"
#include "fault/work.h"

using namespace easyretry;
using namespace std::chrono_literals;

namespace {

class Worker {
 public:
  Worker(const std::string& url, const std::filesystem::path& folder, int life)
      : life_(life), config_(config(url)), journal_(fault::journal_path(folder, life)), engine_(config_) {
    journal_.write("clock " + std::to_string(system_clock().now().time_since_epoch().count() * 1000));
    auto work = engine_.retryable(
        text_of("HANDLER", "work"), [this](int number) { return run(number); }, fault::policy_of_work());
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
  Millis lease() const { return config_.engine.lease; }

 private:
  static Config config(const std::string& url) {
    Config config{.store = url};
    config.engine.workers = 4;
    config.engine.window = 1s;
    config.engine.lease = 1s;
    config.engine.max_crashes = 1000;  // the process is killed for reasons that are not the task's fault
    apply_environment(config, easyretry_environment());
    return config;
  }

  static std::string text_of(const char* variable, const char* otherwise) {
    const char* const said = std::getenv(variable);
    return said == nullptr ? otherwise : said;
  }
  static Millis millis_of(const char* variable, const char* otherwise) {
    return Millis{std::stoi(text_of(variable, otherwise))};
  }

  static std::set<int> poison() {
    std::istringstream list{text_of("POISON", "")};
    std::set<int> numbers;
    for (std::string number; std::getline(list, number, ',');) numbers.insert(std::stoi(number));
    return numbers;
  }

  int number(int i) const { return life_ * fault::kNumbersPerLife + i; }

  // Repeats a submission that did nothing until it works, but none that is in doubt: if the task is stored and has
  // ended meanwhile, it would be a second one.
  void store(const std::vector<int>& numbers) {
    while (true) {
      try {
        work_->submit_many(numbers, [](int n) { return SubmitOptions{.key = fault::key_of(n)}; });
        return note("ack ", numbers);
      } catch (const StoreError& error) {
        if (error.code() == Errc::in_doubt) return note("doubt ", numbers);
        if (error.code() != Errc::unavailable) throw;
      }
      std::this_thread::sleep_for(20ms);
    }
  }

  void note(const std::string& what, const std::vector<int>& numbers) {
    for (const int n : numbers) journal_.write(what + fault::key_of(n));
  }

  Answer run(int number) {
    const TaskInfo& task = current_task()->info;
    const std::string mark = to_string(task.id) + " " + std::to_string(task.version) + " ";
    const auto due = std::chrono::duration_cast<std::chrono::microseconds>(task.next_at.time_since_epoch()).count();
    journal_.write("start " + mark + std::to_string(fault::wall_micros()) + " " + std::to_string(due));
    if (poison_.contains(number)) std::raise(SIGKILL);
    std::this_thread::sleep_for(fault::is_slow(number) ? slow_ : each_);
    journal_.write("end " + mark + std::to_string(fault::wall_micros()));
    if (fault::always_fails(number)) return retry_later("always fails");
    if (fault::fails_once(number) && task.attempts == 1) return retry_later("fails once");
    return done();
  }

  const int life_;
  const Config config_;
  const Millis slow_ = millis_of("SLOW_MILLIS", "10");
  const Millis each_ = millis_of("EACH_MILLIS", "0");
  const std::set<int> poison_ = poison();
  fault::JournalWriter journal_;
  Engine engine_;
  std::optional<Retryable<Answer, std::tuple<int>>> work_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) {
    std::cerr << "usage: kill_worker STORE_URL FOLDER LIFE NEW_TASKS\n";
    return 2;
  }
  try {
    const int tasks = std::stoi(argv[4]);
    Worker worker{argv[1], argv[2], std::stoi(argv[3])};
    worker.submit(tasks);
    const auto idle_since = std::make_shared<std::pair<std::uint64_t, Instant>>(0, std::chrono::steady_clock::now());
    worker.finish([&] {
      // Working while killed is the point; the last life ends when nothing has happened for three leases.
      const std::uint64_t claimed = worker.engine().stats().claimed;
      const Instant now = std::chrono::steady_clock::now();
      if (claimed != idle_since->first || worker.engine().stats().running > 0) *idle_since = {claimed, now};
      return tasks == 0 && now - idle_since->second > 3 * worker.lease();
    });
    return 0;
  } catch (const std::exception& e) {
    std::cerr << "kill_worker: " << e.what() << "\n";
    return 1;
  }
}
