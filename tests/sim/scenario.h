#pragma once
// The parameters of a run, drawn from its seed. Each kind of fault is on in some runs and off in others, because a
// fault that is always on can hide a bug that needs another one.

#include <string>

#include <easyretry/options.h>

#include "sim/dice.h"
#include "sim/scheduler.h"

namespace easyretry::sim {

// Chances that a store call ends so.
struct CallFaults {
  double unavailable = 0;
  double request_lost = 0;  // in doubt, and nothing was done
  double reply_lost = 0;    // in doubt, and it was done
  double late = 0;          // in doubt, and it is done after the caller has given up
  double slow = 0;          // up to Scenario::slowest
  double death_before = 0;
  double death_after = 0;
};

// Mean times between two of a kind; zero: it does not happen.
struct Troubles {
  Time crash{0};
  Time pause{0};
  Time drain{0};
  Time outage{0};
  Time partition{0};
  Time views{0};
};

// The source of the shards that an instance looks after.
enum class Sharing {
  told,  // the world, right or wrong
  found  // the instance itself, from the lists of members that it gets
};

enum class StoreKind { memory, sqlite };

struct Scenario {
  bool embedded = false;  // one instance owns the store; no other process can change a task
  int instances = 3;
  int shards = 8;
  Sharing sharing = Sharing::told;
  EngineOptions engine;
  std::size_t claim_ahead = 0;  // runs a worker pool claims beyond its free threads
  double missing_handler = 0;   // chance that a process lacks one, as half of a rolling deploy does
  Millis wall_error{0};         // of the processes' wall clocks, at most, either way
  std::int64_t drift_ppm = 0;   // of their steady clocks, the same

  int forgotten_shard = -1;  // no instance scans it when the views agree; -1: none
  bool last_blow = false;    // an instance dies with running tasks at the end of the noise
  Time noise{0};             // how long faults are injected
  int tasks = 0;
  double duplicate_key = 0;
  double poison = 0;
  Time cancel{0};  // mean time between two
  Time requeue{0};
  Time revise{0};
  Time pause_handler{0};
  CallFaults calls;
  Troubles troubles;
  Time slowest{0};
};

Scenario draw_scenario(Dice& dice, Sharing sharing, StoreKind store);
std::string to_text(const Scenario& scenario);

}  // namespace easyretry::sim
