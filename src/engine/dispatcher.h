#pragma once
// Gives claimed tasks to those who run them: this process's workers, or somebody elsewhere. From then on they are held,
// and their leases renewed.

#include <functional>
#include <vector>

#include "engine/context.h"
#include "engine/holdings.h"
#include "engine/workers.h"

namespace easyretry::engine {

class Dispatcher {
 public:
  Dispatcher(Context& context, Holdings& holdings, Workers& workers)
      : context_(context), holdings_(holdings), workers_(workers) {}

  // `trusted_until`: until when the lease surely holds.
  void dispatch(std::vector<task::TaskRecord> won,
                const std::function<Instant(const task::TaskRecord&)>& trusted_until) const;

 private:
  void hand_out(std::vector<RunPtr> runs) const;

  Context& context_;
  Holdings& holdings_;
  Workers& workers_;
};

}  // namespace easyretry::engine
