#pragma once
// How many tasks of a handler run at a time with a valid lease.

#include <algorithm>
#include <map>
#include <string>

#include "sim/hindrances.h"
#include "sim/story.h"

namespace easyretry::sim {

// A lease whose claim or renewal was long on its way holds in the store for longer than its holder counts on.
inline bool certainly_holds(const Tenure& tenure, TimePoint now, const Hindrances& hindrances) {
  return tenure.holds(now) && !hindrances.late_call(tenure.holder, tenure.granted) &&
         !hindrances.kept_from_renewing(tenure.holder, tenure.granted) &&
         !hindrances.kept_from_claiming(tenure.holder, tenure.granted);
}

inline int running_for_certain(const std::map<TaskId, Story>& stories, const std::string& handler, TimePoint now,
                               const Hindrances& hindrances) {
  int running = 0;
  for (const auto& [id, story] : stories) {
    if (story.handler != handler) continue;
    running += static_cast<int>(std::ranges::count_if(story.executing, [&](const Execution& execution) {
      return certainly_holds(story.tenures.at(execution.version), now, hindrances);
    }));
  }
  return running;
}

}  // namespace easyretry::sim
