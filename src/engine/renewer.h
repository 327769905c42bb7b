#pragma once
// Renews the leases of the tasks in flight, and sets the stop token of those that have run too long or lost their
// lease. Has its own thread: a busy pool or a slow batch must not cost a lease.

#include "engine/context.h"
#include "engine/in_flight.h"

namespace easyretry::engine {

class Renewer {
 public:
  Renewer(Context& context, InFlight& in_flight) : context_(context), in_flight_(in_flight) {}

  Step step();

  Wakeup wakeup;

 private:
  bool needs_renewal(const Run& run, Instant now) const;
  void look_after_lent(Instant now);
  void check_timeout(Run& run, Instant now);
  void lose(Run& run);
  void check_trust(Run& run, Instant now);
  void renew(std::span<const RunPtr> runs);
  Instant next(Instant now) const;

  Context& context_;
  InFlight& in_flight_;
};

}  // namespace easyretry::engine
