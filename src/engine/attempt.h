#pragma once
// Runs one claimed task through its stage and decides its settlement: attempt.cpp. One run of user code inside the
// filters, the meaning of its result under the handler's policy, and the records of it: execution.cpp. Exceptions of
// user code end here.

#include <exception>
#include <functional>
#include <optional>
#include <string>

#include "engine/context.h"
#include "engine/in_flight.h"

namespace easyretry::engine {

// How a run of user code ended.
struct Called {
  enum class End { success, failed, rejected, undecodable };
  End end = End::success;
  std::string message{};          // of a failure, never empty
  std::optional<Millis> delay{};  // instead of the backoff; 0 to ten years
  std::string result{};
  std::exception_ptr thrown{};  // the exception that left the outermost filter
  std::string unwritable{};     // why a requested result is missing
};

struct Execution {
  const KnownHandler& handler;
  const FilterChain& filters;
  int number;            // 1 for the first attempt
  const TaskInfo* task;  // null: there is no stored task
  std::function<detail::Reply(bool want_result)> body;
  std::function<std::string()> arguments;  // JSON, for an expression that reads them

  // Never throws.
  Called run() const;

 private:
  detail::Reply run_filtered() const;
};

// Judges what user code returned. `arguments` as in Execution.
Called judge(const KnownHandler& handler, detail::Reply reply, const std::function<std::string()>& arguments);

// Judges what user code threw; `what` as in DirectCall.
Called judge_thrown(const Policy& policy, const std::exception_ptr& thrown, const char* what = nullptr);

// Counts an attempt for the handler's circuit, if it has one. A refusal counts as an answer.
void tell_circuit(const KnownHandler& handler, const Called& called, Instant now);

// A worker starts with the task now: measures how late that is, and starts the clock for its duration and timeout.
Instant mark_started(Run& run, Context& context);

// Adds the attempt that this settlement ends to the last attempts of the task. A task that succeeds at its first
// delivery is left alone: that costs nothing, and there is nothing to explain.
void note_attempt(const Run& run, const Context& context, task::Settlement& settlement);

// Returns whether a claimed task may begin. Asks the store if the claim was long ago. False: it was cancelled or lost
// meanwhile, or the store did not answer.
bool still_ours(Run& run, Context& context);
task::Settlement handed_back(const Run& run);

task::Settlement attempt(Run& run, Context& context);

// The same in two halves, for a remote executor.
struct AttemptStart {
  std::optional<task::Settlement> instead{};  // set: nothing is run
  std::string arguments{};                    // JSON, as they were stored
};
AttemptStart begin_attempt(Run& run, Context& context);
// Judges the reply by the handler's policy. `arguments` as begin_attempt() returned them.
task::Settlement end_attempt(Run& run, Context& context, detail::Reply reply, const std::string& arguments);
task::Settlement end_attempt(Run& run, Context& context, Called called);

}  // namespace easyretry::engine
