#pragma once
// State that the threads of a worker share: the messages that it holds, its counters, and a log that does not repeat
// itself.

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include <easyretry/mxrmq.h>
#include <easyretry/options.h>

#include "mxrmq/operations.h"

namespace easyretry::mxrmq {

// The messages that this worker has leased: their leases are renewed, and their handlers are stopped when a lease is
// lost. Thread-safe.
class HeldMessages {
 public:
  struct Held {
    Lease lease;
    std::string topic;
  };

  std::stop_token add(const Lease& lease, const std::string& topic) {
    const std::lock_guard lock{mutex_};
    Entry& entry = held_[lease.token + lease.id];
    entry = {{lease, topic}, std::stop_source{}};
    return entry.stop.get_token();
  }
  void remove(const Lease& lease) {
    {
      const std::lock_guard lock{mutex_};
      held_.erase(lease.token + lease.id);
    }
    changed_.notify_all();
  }
  // Another worker has it: asks the handler to stop, and ends the renewal.
  void lost(const Lease& lease) {
    const std::lock_guard lock{mutex_};
    const auto found = held_.find(lease.token + lease.id);
    if (found == held_.end()) return;
    found->second.stop.request_stop();
    found->second.lost = true;
  }

  std::vector<Held> all() const {
    const std::lock_guard lock{mutex_};
    std::vector<Held> all;
    for (const auto& [name, entry] : held_) {
      if (!entry.lost) all.push_back(entry.held);
    }
    return all;
  }
  // Returns false if that takes too long.
  bool wait_until_empty(Millis patience) {
    std::unique_lock lock{mutex_};
    return changed_.wait_for(lock, patience, [this] { return held_.empty(); });
  }

 private:
  struct Entry {
    Held held;
    std::stop_source stop{std::nostopstate};
    bool lost = false;
  };

  mutable std::mutex mutex_;  // guards the members below
  std::condition_variable changed_;
  std::map<std::string, Entry> held_;
};

struct WorkerCounters {
  std::atomic<std::int64_t> completed = 0;
  std::atomic<std::int64_t> retried = 0;
  std::atomic<std::int64_t> dead = 0;
  std::atomic<std::int64_t> unreadable = 0;
  std::atomic<std::int64_t> fenced = 0;
  std::atomic<std::int64_t> rescued = 0;

  WorkerStats stats() const { return {completed, retried, dead, unreadable, fenced, rescued}; }
};

// Logs a failure once, not at every attempt, and later once that it is resolved. For one thread.
class TroubleLog {
 public:
  explicit TroubleLog(LogSink log) : log_(std::move(log)) {}

  void failed(const std::string& what, std::string_view why) {
    const auto [found, fresh] = said_.try_emplace(what, why);
    if (!fresh && found->second == why) return;
    found->second = why;
    log_(LogLevel::warning, "mxrmq: " + what + "; retrying: " + std::string{why});
  }
  void worked(const std::string& what) {
    if (said_.erase(what) > 0) log_(LogLevel::info, "mxrmq: resolved: " + what);
  }

 private:
  const LogSink log_;
  std::map<std::string, std::string> said_;  // with the reason
};

}  // namespace easyretry::mxrmq
