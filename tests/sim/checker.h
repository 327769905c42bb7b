#pragma once
// The invariants of docs/promises.md, judged from the journal and from what is in the store at the end.
//
// The journal alone says what the state of a task should be at each moment: its version, who holds it until when, and
// since when it could have been claimed. The contents of the store are read only once, at the end.

#include <map>
#include <string>
#include <vector>

#include "sim/journal.h"
#include "sim/scenario.h"
#include "sim/user_code.h"

namespace easyretry::sim {

struct Evidence {
  const Scenario& scenario;
  const std::map<std::string, Plan>& plans;
  const std::vector<Entry>& journal;
  const std::vector<task::TaskRecord>& live;  // in the store, at the end
  const std::vector<task::TaskRecord>& history;
};

struct Violation {
  std::string invariant;  // as docs/promises.md names it: "I2"
  TimePoint at{};
  TaskId id{};
  std::string what;
};

// In the order in which they happened; empty: everything holds.
std::vector<Violation> check(const Evidence& evidence);

}  // namespace easyretry::sim
