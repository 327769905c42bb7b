#pragma once
// Runs one claimed task through its stage and says what is to be settled. Whatever user code throws ends here.

#include <optional>
#include <string>

#include "engine/context.h"
#include "engine/run.h"

namespace easyretry::engine {

// A worker takes the task up now: it is measured how late that is and how long the attempt will take, and its timeout
// begins.
Instant mark_started(Run& run, Context& context);

// Whether a task that was claimed may begin. The store is asked if the claim was long ago. False: it was cancelled or
// lost meanwhile, or nobody can say.
bool still_ours(Run& run, Context& context);
task::Settlement handed_back(const Run& run);

task::Settlement attempt(Run& run, Context& context);

// The same in two halves, for an attempt that is made elsewhere.
struct Beginning {
  std::optional<task::Settlement> instead{};  // nothing is to be run
  std::string arguments{};                    // JSON, as they were stored
};
Beginning begin_attempt(Run& run, Context& context);
// What was heard of it, judged by the handler's policy, comes to this. `arguments` as begin_attempt() gave them.
task::Settlement end_attempt(Run& run, Context& context, detail::Reply reply, const std::string& arguments);
task::Settlement end_attempt(Run& run, Context& context, Called called);

}  // namespace easyretry::engine
