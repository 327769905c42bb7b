#pragma once
// Keeps the leases of what this instance holds, and sets the stop token of what has run too long or lost its lease.
// Has a thread of its own: a busy pool or a slow batch must not cost a lease.

#include "engine/bell.h"
#include "engine/context.h"
#include "engine/holdings.h"
#include "engine/step.h"

namespace easyretry::engine {

class Renewer {
 public:
  Renewer(Context& context, Holdings& holdings) : context_(context), holdings_(holdings) {}

  Step step();

  Bell bell;

 private:
  bool needs_renewal(const Run& run, Instant now) const;
  void check_timeout(Run& run, Instant now);
  void lose(Run& run);
  void check_trust(Run& run, Instant now);
  void renew(std::span<const RunPtr> runs);
  Instant next(Instant now) const;

  Context& context_;
  Holdings& holdings_;
};

}  // namespace easyretry::engine
