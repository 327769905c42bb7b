#pragma once
// Where handlers run: by Workers, in this process, or by a RemoteExecutor.

#include <functional>
#include <vector>

#include "engine/in_flight.h"

namespace easyretry::engine {

// The engine does not care how they run handlers: on threads (thread_workers.h), on the thread that steps the engine
// (inline_workers.h), or in the simulator's own time.
class Workers {
 public:
  virtual ~Workers() = default;

  // How many more tasks of this handler may be claimed for these workers now, while `coming` are being claimed.
  virtual std::size_t room(HandlerNo handler, std::size_t concurrency, std::size_t coming) = 0;
  virtual void take(std::vector<RunPtr> runs) = 0;
  // How many more tasks of this handler can begin at once under its own limit. The free threads are size() - busy().
  virtual std::size_t idle(HandlerNo handler, std::size_t concurrency) = 0;

  virtual std::size_t size() const = 0;     // executions at a time
  virtual std::size_t busy() const = 0;     // waiting or running
  virtual std::size_t waiting() const = 0;  // taken and not started
  // Takes back the waiting ones for which `wanted` is true.
  virtual std::vector<RunPtr> take_waiting(const std::function<bool(const Run&)>& wanted) = 0;
};

// Runs a handler that is not a function of this process: a server behind a URL, or workers that fetch tasks.
// Thread-safe.
class RemoteExecutor {
 public:
  virtual ~RemoteExecutor() = default;

  // How many more of the handler's tasks may be claimed now, while `coming` are being claimed. An executor that has
  // room again notifies Core::claiming().
  virtual std::size_t room(std::size_t coming) = 0;
  // False: for a while, no worker has been there to run the handler's tasks. Then other members that run it share its
  // shards.
  virtual bool attended() { return true; }
  // The server that it calls, if it is always the same: the name of its circuit, unless the handler has one. Else
  // empty.
  virtual std::string calls() const { return {}; }
  // Must not block. Each task stays in flight, its lease renewed, until its outcome is put to the Outcomes (see
  // attempt.h) or Core::let_go is called.
  virtual void take(std::vector<RunPtr> runs) = 0;
  // Whether the workers that make the attempts may have a callback for this outcome, as far as is known here.
  virtual bool may_tell([[maybe_unused]] Outcome outcome) const { return false; }
};

}  // namespace easyretry::engine
