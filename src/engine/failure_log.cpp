#include "engine/failure_log.h"

#include <utility>
#include <vector>

namespace easyretry::engine {
namespace {

constexpr int kLoggedPerSecond = 10;
constexpr Millis kSecond{1000};

std::string line(const TaskInfo& task, Outcome outcome, const std::string& error, const std::string& thrown) {
  std::string text = task.id == TaskId{} ? "a call (" : "task " + to_string(task.id) + " (";
  text += task.handler;
  if (!task.key.empty()) text += ", key " + task.key;
  text += ") ended as " + std::string{to_string(outcome)} + " after " + std::to_string(task.attempts) +
          " attempt(s): " + error;
  return thrown.empty() ? text : text + " [" + thrown + "]";
}

std::string left_out_line(const std::string& handler, std::uint64_t count) {
  return std::to_string(count) + " more final failure(s) of " + handler + " were not logged; at most " +
         std::to_string(kLoggedPerSecond) + " per second are";
}

}  // namespace

void FailureLog::add(const TaskInfo& task, Outcome outcome, const std::string& error, const std::string& thrown) {
  if (!sink_) return;
  const Instant now = clock_.steady();
  std::string before;
  {
    const std::lock_guard lock{mutex_};
    Second& second = seconds_[task.handler];
    if (now >= second.began + kSecond) {
      if (second.left_out > 0) before = left_out_line(task.handler, second.left_out);
      second = {now};
    }
    if (second.logged == kLoggedPerSecond) {
      ++second.left_out;
      any_left_out_ = true;
      return;
    }
    ++second.logged;
  }
  if (!before.empty()) write(before);
  write(line(task, outcome, error, thrown));
}

void FailureLog::log_left_out(Instant now) {
  if (!any_left_out_) return;
  std::vector<std::string> lines;
  {
    const std::lock_guard lock{mutex_};
    any_left_out_ = false;
    for (auto& [handler, second] : seconds_) {
      if (second.left_out == 0) continue;
      if (now >= second.began + kSecond) {
        lines.push_back(left_out_line(handler, std::exchange(second.left_out, 0)));
      } else {
        any_left_out_ = true;
      }
    }
  }
  for (const std::string& text : lines) write(text);
}

}  // namespace easyretry::engine
