#pragma once
// The shop's own ledger: one line per event, appended and flushed. It shows that EasyRetry keeps its promise: every
// accepted order is paid or failed in the end, however often the program was killed in between.

#include <cstdio>
#include <deque>
#include <fstream>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>

class Ledger {
 public:
  struct Summary {
    std::size_t accepted = 0, paid = 0, failed = 0;
    std::size_t open() const { return accepted - paid - failed; }
  };

  explicit Ledger(const std::string& path) {
    std::ifstream earlier{path};
    for (std::string line; std::getline(earlier, line);) apply(line);
    file_.open(path, std::ios::app);
    if (!file_) throw std::runtime_error("cannot write to " + path);
  }

  void accepted(const std::string& order) { write("accepted " + order); }
  // A callback runs at least once, so a line may appear twice. The ledger counts orders, not lines.
  void paid(const std::string& order, const std::string& receipt) { write("paid " + order + " " + receipt); }
  void failed(const std::string& order, const std::string& why) { write("failed " + order + " " + why); }

  Summary summary() const {
    const std::lock_guard lock{mutex_};
    return {accepted_.size(), paid_.size(), failed_.size()};
  }
  std::deque<std::string> latest() const {
    const std::lock_guard lock{mutex_};
    return latest_;
  }

 private:
  void write(const std::string& line) {
    const std::lock_guard lock{mutex_};
    file_ << line << std::endl;
    apply(line);
  }

  void apply(const std::string& line) {
    const auto space = line.find(' ');
    const std::string what = line.substr(0, space);
    const std::string order = line.substr(space + 1, line.find(' ', space + 1) - space - 1);
    // A paid or failed order was accepted, even if the program died before it wrote that line.
    accepted_.insert(order);
    if (what == "paid") paid_.insert(order);
    if (what == "failed") failed_.insert(order);
    latest_.push_back(line);
    if (latest_.size() > 8) latest_.pop_front();
  }

  mutable std::mutex mutex_;
  std::ofstream file_;
  std::set<std::string> accepted_, paid_, failed_;
  std::deque<std::string> latest_;
};
