#pragma once
// What must be true when a run is over: nothing lost, everything ended once and told, counters that agree.

#include <functional>

#include "sim/checker.h"
#include "sim/story.h"

namespace easyretry::sim {

using Stories = std::map<TaskId, Story>;
using Broken = std::function<void(std::string invariant, TaskId id, std::string what)>;

void check_ending(const Evidence& evidence, const Stories& stories, const Broken& broken);

}  // namespace easyretry::sim
