#pragma once
// The events of a run, in order. Decorators around the store and around user code write them, never the store or the
// engine. The checker uses nothing else.

#include <cstdint>
#include <functional>
#include <string>
#include <variant>
#include <vector>

#include "storage/store.h"

namespace easyretry::sim {

// Changes that the store made, seen on their way back.
struct Inserted {
  TaskId id{};
  std::int64_t version = 0;
  TimePoint due{};
  std::string key;
  std::string handler;
  int max_attempts = 0;
};
struct Claimed {
  TaskId id{};
  std::int64_t ticket = 0;   // the version that was asked with
  std::int64_t version = 0;  // the fence that was given
  TimePoint lease_until{};
  int deliveries = 0;
  int crashes = 0;  // counted by now
};
struct Renewed {
  TaskId id{};
  std::int64_t version = 0;
  TimePoint lease_until{};
};
struct Settled {
  TaskId id{};
  std::int64_t version = 0;
  task::Settlement::Kind kind{};
  Outcome outcome{};
  Millis delay{0};
};
struct Revised {
  TaskId id{};
  std::int64_t version = 0;  // that it had before
  std::optional<Millis> delay{};
};
struct EndedByUser {
  task::Ending ending{};
};
struct EndAnswered {  // the user who ended it was told that it will not run (again)
  TaskId id{};
};
struct Requeued {
  TaskId from{};
  TaskId id{};
};

// Changes that were asked for and refused, or tried.
struct Refused {
  TaskId id{};
  std::int64_t version = 0;
  std::string_view verb;
};
struct RenewTried {
  TaskId id{};
  std::int64_t version = 0;
};

// Actions of an operator.
struct HandlerPaused {
  std::string handler;
};
struct HandlerResumed {
  std::string handler;
};

// Answers to a client.
struct Acked {
  TaskId id{};
  std::string key;
};

// User code: handlers and callbacks, by the fence they were given.
enum class Code { handler, on_success, on_final_failure };
enum class Verdict { well, failed };
struct Began {
  TaskId id{};
  std::int64_t version = 0;
  Code code{};
  int counted = 0;  // attempts + crashes as the handler reads them
};
struct Ended {
  TaskId id{};
  std::int64_t version = 0;
  Code code{};
  Verdict verdict{};
};

// Processes and their troubles.
struct Born {
  int life = 0;
};
enum class Death { crashed, drained };
struct Died {
  Death how{};
};
struct Paused {
  TimePoint until{};
};
enum class Fault {
  unavailable,
  request_lost,
  late,
  reply_lost,
  slow,
  death_before,
  death_after,
  outage,
  partition,
  views
};
std::string_view to_string(Fault fault);
struct Hit {
  Fault fault{};
  std::string_view verb{};  // the store call that it hit; empty: none in particular
  TimePoint until{};        // when that call returns
};
// Something that must not be: an exception out of the engine, more in memory than allowed.
struct Wrong {
  std::string invariant;
  std::string what;
};
// From here on nothing is injected.
struct Calm {};

using What =
    std::variant<Inserted, Claimed, Renewed, Settled, Revised, EndedByUser, EndAnswered, Requeued, Refused, RenewTried,
                 HandlerPaused, HandlerResumed, Acked, Began, Ended, Born, Died, Paused, Hit, Wrong, Calm>;

struct Entry {
  TimePoint at{};     // by the store's clock
  int instance = -1;  // that caused it; -1: none
  What what;
};

std::string to_text(const Entry& entry);
std::optional<TaskId> task_of(const Entry& entry);

class Journal {
 public:
  explicit Journal(const Clock& store_clock) : clock_(store_clock) {}

  void write(int instance, What what);
  const std::vector<Entry>& entries() const { return entries_; }
  int open_tasks() const { return open_tasks_; }  // stored and not ended
  std::uint64_t hash() const;                     // of everything written: equal runs have equal ones

  std::function<void(const Entry&)> on_entry;  // for a trace while it happens

 private:
  const Clock& clock_;
  std::vector<Entry> entries_;
  int open_tasks_ = 0;
};

}  // namespace easyretry::sim
