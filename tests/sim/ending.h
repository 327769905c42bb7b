#pragma once
// The checks at the end of a run: nothing is lost, every task has ended once and its owner was notified, counters
// agree.

#include <functional>

#include "sim/checker.h"
#include "sim/story.h"

namespace easyretry::sim {

using Stories = std::map<TaskId, Story>;
using Broken = std::function<void(std::string invariant, TaskId id, std::string what)>;

void check_ending(const Evidence& evidence, const Stories& stories, const Broken& broken);

}  // namespace easyretry::sim
