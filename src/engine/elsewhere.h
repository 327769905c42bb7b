#pragma once
// Where the attempts of a handler are made that is no function of this process: by a server behind a URL, by workers
// that come and ask for tasks. Thread-safe.

#include <vector>

#include "engine/run.h"

namespace easyretry::engine {

class Elsewhere {
 public:
  virtual ~Elsewhere() = default;

  // How many more of the handler's tasks may be claimed now, while `coming` are being claimed. Whoever makes room rings
  // Context::claiming.
  virtual std::size_t room(std::size_t coming) = 0;
  // False: nobody is there to run the handler's tasks, and nobody has been for a while. Then other members that run it
  // are left to share its shards.
  virtual bool attended() { return true; }
  // Must not wait for anything. Each of them is held, and its lease renewed, until it is put to the Outcomes (see
  // attempt.h) or let go (Core::let_go).
  virtual void take(std::vector<RunPtr> runs) = 0;
  // Whether those who make the attempts may want to be told of a final failure, as far as is known here.
  virtual bool may_tell_of_failures() const { return false; }
};

}  // namespace easyretry::engine
