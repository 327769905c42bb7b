#pragma once
// Logs final failures, as warnings. A handler that fails for thousands of tasks does not flood the log: for each
// handler, it logs ten failures a second and the number of the others. Thread-safe.

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>

#include <easyretry/options.h>
#include <easyretry/task.h>

namespace easyretry::engine {

class FailureLog {
 public:
  // Both outlive this.
  FailureLog(const LogSink& sink, const Clock& clock) : sink_(sink), clock_(clock) {}

  // `thrown` as from thrown_text().
  void add(const TaskInfo& task, Outcome outcome, const std::string& error, const std::string& thrown);

  // Logs how many failures were left out in the seconds that are over at `now`.
  void log_left_out(Instant now);

 private:
  // The current second of a handler.
  struct Second {
    Instant began = Instant::min();
    int logged = 0;
    std::uint64_t left_out = 0;
  };

  void write(const std::string& text) const { sink_(LogLevel::warning, text); }

  const LogSink& sink_;
  const Clock& clock_;
  std::atomic<bool> any_left_out_{false};
  std::mutex mutex_;
  std::map<std::string, Second> seconds_;  // by handler; guarded by mutex_
};

}  // namespace easyretry::engine
