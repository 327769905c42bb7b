#pragma once
// The numbers and lists that an engine reports: engine.stats(), engine.counts(), engine.paused(), engine.circuits(),
// engine.limits().

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <easyretry/options.h>
#include <easyretry/task.h>

#pragma GCC visibility push(default)
namespace easyretry {

// Counted on this instance, since the engine started.
struct Stats {
  std::uint64_t stored = 0;
  std::uint64_t claimed = 0;
  std::uint64_t succeeded = 0;
  std::uint64_t retried = 0;  // failed attempts for which another was scheduled
  std::uint64_t exhausted = 0;
  std::uint64_t rejected = 0;
  std::uint64_t quarantined = 0;
  std::uint64_t parked = 0;
  std::uint64_t cancelled = 0;
  std::uint64_t handed_back = 0;
  std::uint64_t callback_failures = 0;
  std::uint64_t callbacks_abandoned = 0;
  std::uint64_t lost_claims = 0;    // another instance was first; normal with several instances
  std::uint64_t stale_settles = 0;  // finished after the lease was lost; ignored
  std::uint64_t leases_lost = 0;
  std::uint64_t timeouts = 0;
  std::uint64_t store_errors = 0;
  std::uint64_t internal_errors = 0;    // bugs in the library that the engine survived
  std::uint64_t listener_failures = 0;  // listeners that threw
  std::uint64_t events_dropped = 0;     // because a queued listener was too slow
  std::uint64_t lost_in_memory = 0;     // Persist::never: retries still waiting when the engine stopped

  std::uint64_t read_ahead = 0;                     // tasks in memory, waiting to become due
  std::uint64_t running = 0;                        // claimed and not yet settled
  std::map<std::string, std::uint64_t> no_handler;  // due tasks of handlers that are not registered on this instance
};

// How many tasks were stored, and how they ended: engine.counts().
//
// The store updates these counts in the same transactions that store and end tasks. So they are always exact, and
// reading them costs the same no matter how many tasks there are.
struct Tally {
  std::int64_t stored = 0;  // a requeued task counts again
  std::map<Outcome, std::int64_t> ended{};

  std::int64_t ended_in_all() const;
  friend bool operator==(const Tally&, const Tally&);
};

struct HandlerCounts {
  Tally total{};
  // UTC days; a task may be stored on one day and end on another. Kept for 400 days; older counts are only in `total`.
  std::map<std::chrono::sys_days, Tally> days{};

  std::int64_t live() const { return total.stored - total.ended_in_all(); }
  friend bool operator==(const HandlerCounts&, const HandlerCounts&);
};

using Counts = std::map<std::string, HandlerCounts>;  // by handler name

// A handler that an operator or the application has paused: its stored tasks do not run.
struct PausedHandler {
  std::string handler;
  TimePoint since{};  // by the store's clock
  std::string why{};  // the reason given to pause(); may be empty

  friend bool operator==(const PausedHandler&, const PausedHandler&) = default;
};

enum class CircuitState { closed, open };
std::string_view to_string(CircuitState state);  // "closed", "open"

// An operator's order to a circuit, for all instances (docs/circuits.md#by-hand).
struct CircuitOrder {
  CircuitState state = CircuitState::open;  // open: nothing starts, not even probes; closed: nothing is held back
  TimePoint since{};                        // by the store's clock
  std::optional<TimePoint> until{};         // nullopt: until it is reset
  std::string why{};                        // may be empty

  friend bool operator==(const CircuitOrder&, const CircuitOrder&) = default;
};

// A circuit, as this instance sees it.
struct CircuitInfo {
  std::string name;
  std::vector<std::string> handlers{};  // that share it
  CircuitState state = CircuitState::closed;
  std::optional<TimePoint> since{};  // of the last change; nullopt: it was never open
  std::uint64_t answered = 0;        // attempts in the last window; a refusal counts as an answer
  std::uint64_t failed = 0;
  std::optional<double> starts_per_second{};      // while it is open
  std::size_t held = 0;                           // due tasks that wait for it in the memory of this instance
  std::optional<CircuitOrder> order{};            // in force; nullopt: the circuit decides by itself
  std::optional<double> retries_at_most{};        // CircuitOptions::retries_at_most
  std::optional<TimePoint> retries_held_since{};  // since when that holds retries back here; nullopt: it does not
  std::size_t held_retries = 0;                   // due retries that wait for it in the memory of this instance
};

// A limit that an operator has set at run time, for all instances (docs/limits.md#at-run-time).
struct LimitOrder {
  LimitOptions limit{};
  TimePoint since{};  // by the store's clock
  std::string why{};  // may be empty

  friend bool operator==(const LimitOrder&, const LimitOrder&) = default;
};

// A limit of a handler or of a circuit, as this instance sees it.
struct LimitInfo {
  std::string subject;                  // "handler payment.pay", "circuit gateway"
  std::vector<std::string> handlers{};  // whose tasks it counts
  std::optional<int> running{};         // tasks at a time, on all instances together
  std::optional<double> per_second{};   // starts, on all instances together
  int burst = 1;
  std::optional<LimitOrder> order{};       // set at run time; the numbers above are the smaller ones of both
  std::uint64_t running_here = 0;          // claimed and not settled, on this instance
  std::uint64_t seats_here = 0;            // of `running`, those that this instance has at present
  double starts_per_second_here = 0;       // its part of `per_second` at present
  std::optional<TimePoint> holds_since{};  // since when it has held tasks back; nullopt: it holds none back
  std::uint64_t held_tasks = 0;            // due tasks in the memory of this instance that wait for it
};

}  // namespace easyretry
#pragma GCC visibility pop
