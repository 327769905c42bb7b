#pragma once
// Gives the parts of a Core their threads, and takes them away in the right order.

#include <memory>

#include "engine/core.h"
#include "engine/run_loop.h"
#include "engine/thread_workers.h"

namespace easyretry::engine {

enum class Tasks {
  are_claimed,  // read from the store and claimed by this engine
  are_brought,  // claimed by somebody else, who delivers them (Dispatcher)
};

class Threads {
 public:
  explicit Threads(Core& core, Tasks tasks = Tasks::are_claimed);

  // Stops claiming, hands back what waits, lets what runs finish for `patience`, then asks it to stop, and writes down
  // every outcome. What still runs after that keeps its lease until it ends and will be run again.
  void stop(Millis patience);

 private:
  void begin_claiming();
  void wait_for_handlers(Instant until);

  Core& core_;
  std::unique_ptr<RunLoop> keeping_, renewing_, settling_, claiming_, claiming_too_, watching_pauses_, retrying_,
      loading_, taking_in_, rebalancing_;
};

MakeWorkers thread_workers(std::size_t threads);

}  // namespace easyretry::engine
