#pragma once
// Gives claimed tasks to the workers of this process or to a remote executor. From then on they are in flight, and
// their leases are renewed.

#include <functional>
#include <vector>

#include "engine/context.h"
#include "engine/in_flight.h"
#include "engine/workers.h"

namespace easyretry::engine {

class Dispatcher {
 public:
  Dispatcher(Context& context, InFlight& in_flight, Workers& workers)
      : context_(context), in_flight_(in_flight), workers_(workers) {}

  // `trusted_until`: until when the lease certainly holds.
  void dispatch(std::vector<task::TaskRecord> won,
                const std::function<Instant(const task::TaskRecord&)>& trusted_until) const;

 private:
  void hand_out(std::vector<RunPtr> runs) const;

  Context& context_;
  InFlight& in_flight_;
  Workers& workers_;
};

}  // namespace easyretry::engine
