#pragma once
// Lease requests of workers in other processes, which wait for tasks. A task is claimed only if a request can take it.
// Claimed tasks that do not fit into a response wait a moment for the next request. Thread-safe.

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "engine/wakeup.h"
#include "engine/workers.h"
#include "task/record.h"

namespace easyretry::server {

inline constexpr Millis kLongestLease{24 * 3600 * 1000};

class LeaseQueue : public std::enable_shared_from_this<LeaseQueue> {
 public:
  // Called once, from any thread; must not block. Empty: no task came in time.
  using Lend = std::function<void(std::vector<engine::RunPtr>)>;
  struct Request {
    std::vector<std::string> handlers;
    std::size_t most = 1;
    Instant until{};
    Lend lend;
  };
  using HandBack = std::function<void(std::vector<engine::RunPtr>)>;
  using Attended = std::function<void()>;

  // `wanted` is signalled when requests can take more tasks; `hand_back` gets tasks that no request takes; `attended`
  // is called for the first request for a handler in a while.
  LeaseQueue(
      const Clock& clock, engine::Wakeup& wanted, HandBack hand_back, Attended attended = [] {});

  std::shared_ptr<engine::RemoteExecutor> of(const std::string& handler);

  // A worker asks for tasks of these handlers. Until one asks, their workers may have any callback. One that judges may
  // have on_success; the engine knows the handlers for which it has on_final_failure.
  enum class Worker { plain, judges };
  void asked_by(Worker worker, std::span<const std::string> handlers);

  // The workers of one handler.
  struct Workers {
    std::optional<Millis> asked_ago{};  // since a worker asked for tasks, or stopped waiting for them; nullopt: never
    std::size_t waiting = 0;
  };
  Workers workers_of(const std::string& handler);

  std::uint64_t wait(Request request);
  // The client has disconnected. False: the request is already answered.
  bool leave(std::uint64_t number);

  // Answers requests whose time is over, and hands back tasks that no request took.
  engine::Step step();
  // Answers all requests; later ones are answered at once.
  void close();

  engine::Wakeup wakeup;

 private:
  class Handler;
  struct Kept {
    engine::RunPtr run;
    Instant until{};
  };

  bool may_tell(const std::string& handler, Outcome outcome);
  std::size_t room(const std::string& handler, std::size_t coming);
  bool attended(const std::string& handler);
  // Under mutex_
  bool is_attended(const std::string& handler) const;
  void saw(const Request& request);
  void take(const std::string& handler, std::vector<engine::RunPtr> runs);
  std::vector<engine::RunPtr> kept_for(const Request& request);  // under mutex_

  const Clock& clock_;
  engine::Wakeup& wanted_;
  const HandBack hand_back_;
  const Attended attended_;
  std::mutex mutex_;
  // Guarded by mutex_
  std::map<std::uint64_t, Request> waiting_;  // in order of arrival
  // By handler
  std::map<std::string, std::vector<Kept>> kept_;
  std::map<std::string, Instant> seen_;  // when a request for it last arrived or was answered
  std::set<std::string> untold_;         // handlers whose workers have asked
  std::set<std::string> judged_;         // of them, those whose workers judge
  std::uint64_t last_ = 0;
  bool closed_ = false;
};

// The tasks that are leased to workers in other processes: since when, to measure how long attempts take, and until
// when, to know which handlers they are busy with. Thread-safe.
class Leases {
 public:
  explicit Leases(std::size_t most) : most_(most) {}

  void begin(const task::Ticket& ticket, const std::string& handler, Instant at, Instant until);
  // Also of a lease that began before a restart.
  void renew(const task::Ticket& ticket, const std::string& handler, Instant until);
  // Returns when it began. Nullopt: leased by another instance, before a restart, or too long ago.
  std::optional<Instant> end(const task::Ticket& ticket);
  // The handlers of tasks that workers may still run.
  std::set<std::string, std::less<>> handlers(Instant now) const;

 private:
  struct Lease {
    std::string handler;
    std::optional<Instant> since{};
    Instant until{};
  };
  Lease& of(const task::Ticket& ticket, const std::string& handler);

  const std::size_t most_;
  mutable std::mutex mutex_;
  std::map<task::Ticket, Lease> leases_;  // guarded by mutex_; also those that have expired and have not ended
};

}  // namespace easyretry::server
