#pragma once
// Writes the outcomes of messages to Redis, many at a time, and retries until it succeeds. Also takes over the messages
// of dead workers.

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "mxrmq/link.h"
#include "mxrmq/operations.h"
#include "mxrmq/worker_state.h"

namespace easyretry::mxrmq {

struct Outcome {
  enum class Kind { completed, retried, dead, unreadable };
  Kind kind = Kind::completed;
  std::string topic;
  Lease lease;
  Millis delay{0};   // before a retry
  std::string json;  // what to store, unless it was completed
};

// All must have the same topic and kind; at most kMessagesACall. One answer for each, as from the operations.
std::vector<bool> settle(QueueConnection& link, const std::vector<Outcome>& alike);

// Has its own thread.
class Settler {
 public:
  static constexpr Millis kPause{200};  // before the next attempt after an error

  Settler(QueueConnection& link, HeldMessages& held, WorkerCounters& counters, LogSink log, Millis pause = kPause);
  ~Settler();  // stop()
  Settler(const Settler&) = delete;
  Settler& operator=(const Settler&) = delete;

  void add(Outcome outcome);
  // Ends a pause. Returns when all outcomes are written, or after one more failure: the leases of the rest expire.
  void stop();

 private:
  void run();
  void pause();
  bool settle_all(std::vector<Outcome>& outcomes);
  void note(const std::vector<Outcome>& settled, const std::vector<bool>& answers);

  QueueConnection& link_;
  HeldMessages& held_messages_;
  WorkerCounters& counters_;
  TroubleLog trouble_log_;  // for the thread
  const Millis pause_;

  std::mutex mutex_;  // guards the members below
  std::condition_variable changed_;
  std::vector<Outcome> waiting_;
  bool stopping_ = false;

  std::jthread thread_;  // last: it uses the other members
};

struct ReaperOptions {
  std::string worker;  // prefix of its tokens
  std::int64_t max_lost = 3;
  Millis lease = std::chrono::minutes{1};  // until the second step; after that, another worker does it
};

// Takes over messages that dead workers of either side left, or that no worker took in time. There are two steps, and
// nothing is lost between them: first a lease, which expires if we die; then the outcome according to the message's own
// rules. For one thread.
class Reaper {
 public:
  Reaper(QueueConnection& link, ReaperOptions options) : link_(link), options_(std::move(options)) {}

  struct Round {
    std::int64_t settled = 0;
    bool more = false;
  };
  // Handles some of the messages whose time has run out.
  Round reap();
  // Gives messages in processing that have no deadline one, so that reap() finds them later.
  std::int64_t adopt(const std::string& topic) { return mxrmq::adopt(link_, topic, options_.lease); }

 private:
  Outcome second_step(const Reaped& reaped, std::int64_t now) const;

  QueueConnection& link_;
  const ReaperOptions options_;
  std::int64_t rounds_ = 0;
};

}  // namespace easyretry::mxrmq
