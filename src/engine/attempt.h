#pragma once
// Runs one claimed task through its stage and decides its settlement. Exceptions of user code end here.

#include <optional>
#include <string>

#include "engine/context.h"
#include "engine/in_flight.h"

namespace easyretry::engine {

// A worker starts with the task now: measures how late that is, and starts the clock for its duration and timeout.
Instant mark_started(Run& run, Context& context);

// Whether a claimed task may begin. Asks the store if the claim was long ago. False: it was cancelled or lost
// meanwhile, or the store did not answer.
bool still_ours(Run& run, Context& context);
task::Settlement handed_back(const Run& run);

task::Settlement attempt(Run& run, Context& context);

// The same in two halves, for a remote executor.
struct Beginning {
  std::optional<task::Settlement> instead{};  // set: nothing is run
  std::string arguments{};                    // JSON, as they were stored
};
Beginning begin_attempt(Run& run, Context& context);
// Judges the reply by the handler's policy. `arguments` as begin_attempt() returned them.
task::Settlement end_attempt(Run& run, Context& context, detail::Reply reply, const std::string& arguments);
task::Settlement end_attempt(Run& run, Context& context, Called called);

}  // namespace easyretry::engine
