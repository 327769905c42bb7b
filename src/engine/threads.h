#pragma once
// Threads for the parts of a Core: RunLoop is one of them, Threads starts all and stops them in the right order.

#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "engine/core.h"
#include "engine/thread_workers.h"

namespace easyretry::engine {

// A thread that steps one part until its wakeup is closed, which the destructor does: loops with one wakeup end
// together. Make it the last member of its owner: it joins when destroyed, while everything it uses still exists.
class RunLoop {
 public:
  RunLoop(std::string name, Context& context, Wakeup& wakeup, std::function<Step()> step);
  RunLoop(std::string name, Core& core, Wakeup& wakeup, std::function<Step()> step)
      : RunLoop(std::move(name), core.context(), wakeup, std::move(step)) {}
  ~RunLoop();
  RunLoop(const RunLoop&) = delete;
  RunLoop& operator=(const RunLoop&) = delete;

 private:
  void run();
  Step guarded_step();

  const std::string name_;
  Context& context_;
  Wakeup& wakeup_;
  const std::function<Step()> step_;
  std::thread thread_;
};

enum class Tasks {
  are_claimed,  // read from the store and claimed by this engine
  are_brought,  // claimed by another part, which delivers them (Dispatcher)
};

class Threads {
 public:
  explicit Threads(Core& core, Tasks tasks = Tasks::are_claimed);

  // Stops claiming, hands back tasks that wait, lets running handlers finish for `patience`, then asks them to stop,
  // and writes every outcome. A handler that still runs after that keeps its lease until it ends; its task will run
  // again.
  void stop(Millis patience);

 private:
  void begin_claiming();
  void wait_for_handlers(Instant until);

  Core& core_;
  std::unique_ptr<RunLoop> keeping_, renewing_, settling_, claiming_, claiming_too_, watching_pauses_,
      watching_circuits_, watching_brakes_, retrying_, loading_, taking_in_, rebalancing_;
};

MakeWorkers thread_workers(std::size_t threads);

}  // namespace easyretry::engine
