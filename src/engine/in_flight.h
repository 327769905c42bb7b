#pragma once
// Claimed tasks, from the claim to the settlement: a Run is one of them, InFlight has all of this instance, Outcomes
// are those that have been run and wait to be written.

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <stop_token>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "engine/handlers.h"
#include "engine/wakeup.h"
#include "task/record.h"

namespace easyretry::engine {

// The time by our clock until which a lease requested at `sent` certainly holds. A tenth of it is kept as a margin for
// a slow reply and for clocks that run at different speeds.
inline Instant trust(Instant sent, Millis lease) {
  return sent + lease - lease / 10;
}

// A claimed task that has waited longer than this for its worker is checked in the store before it begins: it may have
// been cancelled. A caller that cancels waits twice as long, and then knows that the task will not begin.
inline constexpr Millis kBeginWithin{200};

// Counts a claimed task among those that its handler holds, until it is settled.
class Held {
 public:
  Held() = default;
  explicit Held(std::shared_ptr<Holdings> holdings) : holdings_(std::move(holdings)) { ++holdings_->claimed; }
  ~Held() { end(); }
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;
  // From any thread; only the first call counts.
  void end() {
    if (holdings_ && !ended_.exchange(true)) --holdings_->claimed;
  }

 private:
  const std::shared_ptr<Holdings> holdings_{};
  std::atomic<bool> ended_{false};
};

enum class Interrupt { none, timeout, lease_lost, cancelled, draining };

struct Run {
  Run(task::TaskRecord claimed, std::shared_ptr<const KnownHandler> known, HandlerNo number, Instant trust)
      : record(std::move(claimed)), handler(std::move(known)), no(number), trusted_until(trust) {}

  // Fixed after construction
  const task::TaskRecord record;
  const std::shared_ptr<const KnownHandler> handler;
  const HandlerNo no;

  // Shared between the worker, the Renewer and callers that stop it
  std::atomic<Instant> trusted_until;  // by our clock the lease certainly holds until then
  std::atomic<Instant> started{Instant::max()};
  std::atomic<Interrupt> interrupt{Interrupt::none};
  std::atomic<Instant> extended_until{Instant::min()};  // the handler asked to be allowed to run until then
  std::stop_source stop;

  // Set for a task that was claimed, as opposed to one that a caller has started or that is in no store.
  std::shared_ptr<Held> held{};

  // A direct call instead of the stored arguments; null: the handler, as registered.
  detail::DirectCall* direct = nullptr;
  // Takes the outcome of a task that is in no store; empty: the Settler does.
  std::function<void(task::Settlement)> settled;

  task::Ticket ticket() const { return {record.info.id, record.info.version}; }

  // Trust only grows: a lease that the handler extended is not shortened by the next renewal.
  void trust_until(Instant until) {
    Instant known = trusted_until;
    while (known < until && !trusted_until.compare_exchange_weak(known, until)) {
    }
  }

  // The first reason stays.
  void interrupt_with(Interrupt why) {
    auto none = Interrupt::none;
    interrupt.compare_exchange_strong(none, why);
    stop.request_stop();
  }
};

using RunPtr = std::shared_ptr<Run>;

// Every task that this instance has claimed and not yet settled. Thread-safe.
class InFlight {
 public:
  void add(std::span<const RunPtr> runs);
  // Removes exactly these runs: a task that was settled and claimed again meanwhile stays.
  void remove(std::span<const RunPtr> runs);
  RunPtr find(TaskId id) const;
  // These runs now belong to remote workers, whose leases end by `until`. They still count among the tasks that their
  // handlers hold, until they are removed or forgotten.
  void lend(std::span<const RunPtr> runs, Instant until);
  void prolong(const task::Ticket& ticket, Instant until);
  // Lent tasks whose leases should have ended.
  std::vector<task::Ticket> overdue(Instant now) const;
  void forget(const task::Ticket& ticket);
  // A user has ended these tasks: those in flight do not begin any more, nor do those that are being claimed at this
  // moment.
  void cancelled(std::span<const TaskId> ids);
  std::vector<RunPtr> all() const;
  // The number of tasks whose handlers run in this process. Remote executors have their own limits.
  std::size_t here() const;
  std::size_t size() const;
  // False: remote executors still hold some at `until`.
  bool wait_none_remote(Instant until);

 private:
  struct Lent {
    std::int64_t version;
    std::shared_ptr<Held> held;
    Instant until;
  };

  void interrupt_if_cancelled(Run& run) const;
  void end_lent(const task::Ticket& ticket);  // under mutex_

  // Enough: only a few batches of claims are on their way at a time.
  static constexpr std::size_t kCancelledKept = 10'000;

  mutable std::mutex mutex_;
  std::condition_variable all_here_;
  std::unordered_map<TaskId, RunPtr> runs_;  // guarded by mutex_
  std::unordered_map<TaskId, Lent> lent_;    // guarded by mutex_
  std::size_t remote_ = 0;                   // runs of remote executors; guarded by mutex_
  std::unordered_set<TaskId> cancelled_;     // lately; guarded by mutex_
  std::deque<TaskId> cancelled_first_;       // the same, by age; guarded by mutex_
};

// A run and its outcome.
struct Settled {
  RunPtr run;
  task::Settlement settlement;
};

// The outcomes on their way to the Settler. Thread-safe. Shared with the worker threads: one that hangs in a handler
// beyond the end of the engine still has a place for its outcome.
class Outcomes {
 public:
  // Wakes the Settler for the first outcome, and again when a batch is full.
  explicit Outcomes(std::size_t batch) : batch_(batch) {}
  void batch(std::size_t size) { batch_ = size; }

  void put(RunPtr run, task::Settlement settlement);
  // Appends the new outcomes to `pending`, which belongs to the Settler. The Settler is idle when `pending` is empty.
  void take(std::vector<Settled>& pending);
  std::size_t size() const;
  // True: everything put has been settled.
  bool wait_idle(Instant until);

  Wakeup wakeup;  // the Settler's

 private:
  std::atomic<std::size_t> batch_;
  mutable std::mutex mutex_;
  std::condition_variable idle_;
  std::vector<Settled> inbox_;  // guarded by mutex_
  bool pending_ = false;        // guarded by mutex_
};

}  // namespace easyretry::engine
