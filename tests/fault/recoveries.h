#pragma once
// How soon tasks of killed processes are run again.

#include <map>
#include <set>
#include <string>
#include <utility>

#include "fault/crew.h"
#include "fault/lateness.h"

namespace easyretry::fault {

// From a kill to the next beginning of each task that was running. A task that was claimed once more in between was so
// by a process that died before it could begin: that is another recovery.
inline Lateness recoveries(Crew& crew) {
  std::map<std::string, std::map<std::int64_t, JournalEvent>> begun;  // by task and fence
  std::set<std::pair<std::string, std::int64_t>> ended;
  for (const JournalEvent& event : crew.events()) {
    if (event.what == "start") begun[event.subject].emplace(event.fence, event);
    if (event.what == "end") ended.emplace(event.subject, event.fence);
  }
  Lateness times;
  for (const auto& [task, runs] : begun) {
    for (const auto& [fence, run] : runs) {
      const auto death = crew.deaths().find(run.life);
      const auto next = runs.find(fence + 1);
      if (death == crew.deaths().end() || ended.contains({task, fence}) || next == runs.end()) continue;
      times.add_micros(next->second.micros - death->second);
    }
  }
  return times;
}

}  // namespace easyretry::fault
