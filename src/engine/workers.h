#pragma once
// Where handlers run. The engine does not care how: on threads (thread_workers.h), at once on the caller's thread
// (inline_workers.h), or in the simulator's own time.

#include <functional>
#include <vector>

#include "engine/run.h"

namespace easyretry::engine {

class Workers {
 public:
  virtual ~Workers() = default;

  // How many more tasks of this handler may be claimed for these workers now, while `coming` are being claimed.
  virtual std::size_t room(HandlerNo handler, std::size_t concurrency, std::size_t coming) = 0;
  virtual void take(std::vector<RunPtr> runs) = 0;
  // How many more tasks of this handler its own limit lets begin at once. The free threads are size() - busy().
  virtual std::size_t idle(HandlerNo handler, std::size_t concurrency) = 0;

  virtual std::size_t size() const = 0;     // executions at a time
  virtual std::size_t busy() const = 0;     // waiting or running
  virtual std::size_t waiting() const = 0;  // taken and not started
  // Takes back those of them for which `wanted` holds.
  virtual std::vector<RunPtr> take_waiting(const std::function<bool(const Run&)>& wanted) = 0;
};

}  // namespace easyretry::engine
