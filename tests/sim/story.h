#pragma once
// One task's life as the journal tells it.

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sim/journal.h"

namespace easyretry::sim {

// A claim that the store granted, and what became of it.
struct Tenure {
  int holder = -1;
  TimePoint granted{};  // when the present lease was given: by the claim or the last renewal
  TimePoint until{};
  TimePoint due{};        // what the task was due at when it was claimed
  bool released = false;  // settled, or ended by a user
  bool begun = false;     // user code was: the handler or a callback
  bool charged = false;   // the store has counted its end as a crash
  bool unheard = false;   // its holder may not have heard of it: the claim came late, or its reply
  bool ran = false;       // the handler was begun
  bool ran_well = false;
  std::optional<TimePoint> ended{};  // the last of its user code
  std::optional<TimePoint> renew_tried{};
  std::optional<TimePoint> died{};  // its holder
  // It had begun, or was on its way to the worker that was free for it.
  bool was_running() const { return begun || unheard || (died && *died - granted <= std::chrono::seconds{3}); }
  bool holds(TimePoint now) const { return !released && until > now; }
};

struct Execution {
  int instance = -1;
  std::int64_t version = 0;
  Code code{};
  TimePoint since{};
};

struct Story {
  std::string key;
  std::string handler;
  int max_attempts = 0;
  bool acked = false;

  std::int64_t version = 1;
  TimePoint due{};
  bool running = false;
  bool finished = false;
  bool requeued = false;
  std::optional<Outcome> outcome{};
  std::optional<task::Ending> ended_by_user{};
  std::optional<TimePoint> end_answered{};

  std::map<std::int64_t, Tenure> tenures{};  // by fence
  std::vector<Execution> executing{};        // user code that has begun and not ended
  int claims = 0;
  int lost = 0;         // claims of a task whose lease had run out
  int crashes = 0;      // of them, those that the store has counted as crashes
  int runs = 0;         // handler executions
  int handed_back = 0;  // of them
  int stale = 0;        // settlements that came too late
  std::map<Code, int> called{};
  std::map<Code, int> called_well{};

  // Leases that ran out without proof that the task had begun.
  int unproven() const { return lost - crashes; }
  const Tenure* tenure() const { return running ? &tenures.at(version) : nullptr; }
  // When a claim could have been made, as far as the task itself is concerned.
  TimePoint claimable_since() const { return running ? std::max(due, tenure()->until) : due; }
};

}  // namespace easyretry::sim
