// A member of the fleet in the fault lab: lab_worker STORE_URL JOURNAL LIFE
//
// Submits tasks and runs those of the store, until SIGTERM. Orders come on stdin, one a line:
//
//   rate 20        submit so many tasks a second; 0 to begin with
//   poison         submit a task that kills the process that runs it
//
// A key says how its task behaves and ends (Kind), so that the checker needs no other source. EASYRETRY_* variables are
// the options of the engine, MACHINE_* those of another_machine.cpp. Each line of the journal begins with what happened
// and when, in microseconds of the clock that all processes of the machine share and that never steps:
//
//   born T WALL PID
//   sent T KEY, then one of: ack T KEY ID, doubt T KEY, refused T KEY
//   start T KEY ID FENCE WALL DUE ATTEMPT CRASHES, then end T KEY ID FENCE ok|failed
//   success T KEY ID FENCE, failure T KEY ID FENCE OUTCOME        a callback
//   starved T FROM        this process did not run, or hardly, since FROM
//   left T                it has stopped, as it was asked to
//
// It exits with 75 (kNotReached) if the store could not be reached or written to, and with 1 after any other error.

#include <atomic>
#include <csignal>
#include <iostream>
#include <mutex>
#include <sstream>
#include <thread>

#include <pthread.h>
#include <unistd.h>

#include <easyretry/config.h>
#include <easyretry/easyretry.h>

#include "fault/journal.h"

using namespace easyretry;
using namespace std::chrono_literals;

namespace {

constexpr int kAttempts = 3;
constexpr auto kTick = 100ms;
constexpr auto kStarved = 500ms;  // between two ticks
constexpr int kNotReached = 75;   // fleet.py: no surprise while a fault lasts

std::int64_t steady_micros() {
  return std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

template <class... Words>
std::string line(const char* what, const Words&... words) {
  std::ostringstream text;
  text << what << ' ' << steady_micros();
  ((text << ' ' << words), ...);
  return text.str();
}

// How the n-th task of a process behaves. `slow` takes longer than its lease, which has to be renewed.
std::string kind_of(int n) {
  switch (n % 50) {
    case 7: return "slow";
    case 11:
    case 23:
    case 42: return "once";  // fails at its first attempt
    case 17:
    case 36: return "never";  // fails at each
    default: return "plain";
  }
}

class Worker {
 public:
  Worker(const std::string& url, const std::string& journal, std::string life)
      : life_(std::move(life)), config_(config(url)), journal_(journal), engine_(config_) {
    note(line("born", fault::wall_micros(), getpid()));
    work_ = engine_.retryable("work", [this](const std::string& kind) { return run(kind); },
                              Policy{.backoff = Fixed{50ms, 100ms}, .stop = {.max_attempts = kAttempts}},
                              {.keep_results = 24h});
    work_->on_success([this](std::int64_t, const TaskInfo& task) {
      note(line("success", task.key, to_string(task.id), task.version));
    });
    work_->on_final_failure([this](const Failure& failure, const TaskInfo& task) {
      note(line("failure", task.key, to_string(task.id), task.version, to_string(failure.outcome)));
    });
    engine_.start();
  }

  void obey(const std::string& order) {
    if (order == "poison") return store("poison", 1);
    if (order.starts_with("rate ")) rate_ = std::stoi(order.substr(5));
  }

  // Every tenth submission is a batch.
  void submit_at_its_rate(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      const int rate = rate_;
      if (rate > 0) store(kind_of(submissions_), submissions_ % 10 == 0 ? 5 : 1);
      ++submissions_;
      std::this_thread::sleep_for(rate > 0 ? 1000ms / rate : 20ms);
    }
  }

  // Tells the checker of times in which this machine was too busy for this process.
  void watch_itself(const std::stop_token& stop) {
    std::int64_t last = steady_micros();
    while (!stop.stop_requested()) {
      std::this_thread::sleep_for(kTick);
      const std::int64_t now = steady_micros();
      if (now - last > std::chrono::microseconds{kStarved}.count()) note(line("starved", last));
      last = now;
    }
  }

  void leave() {
    engine_.stop();
    note(line("left"));
  }

 private:
  static Config config(const std::string& url) {
    Config config{.store = url};
    apply_environment(config, easyretry_environment());
    return config;
  }

  void note(const std::string& text) { journal_.write(text); }

  void store(const std::string& kind, int tasks) {
    std::vector<std::string> keys;
    {
      const std::lock_guard lock{mutex_};
      for (int i = 0; i < tasks; ++i) keys.push_back(kind + "-" + life_ + "-" + std::to_string(++keys_));
    }
    for (const std::string& key : keys) note(line("sent", key));
    try {
      std::size_t next = 0;
      const auto ids = work_->submit_many(std::vector<std::string>(keys.size(), kind),
                                          [&](const std::string&) { return SubmitOptions{.key = keys[next++]}; });
      for (std::size_t i = 0; i < keys.size(); ++i) note(line("ack", keys[i], to_string(ids[i])));
    } catch (const StoreError& error) {
      for (const std::string& key : keys) note(line(error.code() == Errc::in_doubt ? "doubt" : "refused", key));
    }
  }

  // The result says which execution it is of.
  std::int64_t run(const std::string& kind) {
    const TaskInfo& task = current_task()->info;
    const std::string id = to_string(task.id);
    const auto due = std::chrono::duration_cast<std::chrono::microseconds>(task.next_at.time_since_epoch()).count();
    note(line("start", task.key, id, task.version, fault::wall_micros(), due, task.attempts, task.crashes));
    if (kind == "poison") std::raise(SIGKILL);
    std::this_thread::sleep_for(kind == "slow" ? config_.engine.lease * 3 / 2 : 10ms);
    const bool fails = kind == "never" || (kind == "once" && task.attempts == 1);
    note(line("end", task.key, id, task.version, fails ? "failed" : "ok"));
    if (fails) throw std::runtime_error("the task is meant to fail");
    return task.version;
  }

  const std::string life_;
  const Config config_;
  fault::JournalWriter journal_;  // for any thread: each line is one append
  Engine engine_;
  std::optional<Retryable<std::int64_t, std::tuple<std::string>>> work_;
  std::atomic<int> rate_{0};
  int submissions_ = 0;  // of the thread that submits
  std::mutex mutex_;
  int keys_ = 0;  // guarded by mutex_
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    std::cerr << "usage: lab_worker STORE_URL JOURNAL LIFE\n";
    return 2;
  }
  sigset_t ends;
  sigemptyset(&ends);
  sigaddset(&ends, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &ends, nullptr);  // before there are threads; sigwait takes it
  try {
    Worker worker{argv[1], argv[2], argv[3]};
    const std::jthread submitting{[&](const std::stop_token& stop) { worker.submit_at_its_rate(stop); }};
    const std::jthread watching{[&](const std::stop_token& stop) { worker.watch_itself(stop); }};
    std::thread{[&] {  // reads until the process ends
      for (std::string order; std::getline(std::cin, order);) worker.obey(order);
    }}
        .detach();
    int ended = 0;
    sigwait(&ends, &ended);
    worker.leave();
    _exit(0);  // the reader of orders still waits
  } catch (const StoreError& error) {
    std::cerr << "lab_worker: " << error.what() << "\n";
    return error.code() == Errc::unavailable || error.code() == Errc::in_doubt ? kNotReached : 1;
  } catch (const std::exception& e) {
    std::cerr << "lab_worker: " << e.what() << "\n";
    return 1;
  }
}
