#pragma once
// Claims due tasks, and gives them to the workers.

#include <functional>
#include <memory>
#include <vector>

#include "engine/context.h"
#include "engine/in_flight.h"
#include "engine/schedule.h"
#include "engine/workers.h"

namespace easyretry::engine {

// Gives claimed tasks to the workers of this process or to a remote executor. From then on they are in flight, and
// their leases are renewed.
class Dispatcher {
 public:
  Dispatcher(Context& context, InFlight& in_flight, Workers& workers)
      : context_(context), in_flight_(in_flight), workers_(workers) {}

  // `trusted_until`: the lease certainly holds until then.
  void dispatch(std::vector<task::TaskRecord> won,
                const std::function<Instant(const task::TaskRecord&)>& trusted_until) const;

 private:
  void hand_out(std::vector<RunPtr> runs) const;

  Context& context_;
  InFlight& in_flight_;
  Workers& workers_;
};

// Claims in batches as large as the load: one task when idle, hundreds under load, and never more than the workers can
// soon run. Several share one Schedule, each with its own thread.
class Claimer {
 public:
  Claimer(std::size_t number, Context& context, Schedule& schedule, InFlight& in_flight, Workers& workers)
      : number_(number),
        context_(context),
        schedule_(schedule),
        in_flight_(in_flight),
        dispatcher_(context, in_flight, workers) {}

  Step step();

 private:
  void claim(bool begin);
  void hold_doubtful(const std::vector<task::Ticket>& tickets);
  void clear_doubt();
  void clear_doubtful();
  Instant next_look() const;
  Result<std::vector<task::TaskRecord>> look(const std::vector<task::Ticket>& tickets);
  Result<std::vector<task::TaskRecord>> confirmed(std::vector<task::TaskRecord> found);
  void claimed(std::vector<task::TaskRecord> won);
  void deliver(std::vector<task::TaskRecord> won);

  const std::size_t number_;
  Context& context_;
  Schedule& schedule_;
  InFlight& in_flight_;
  Dispatcher dispatcher_;
  std::vector<DueTask> batch_;
  std::vector<task::Ticket> tickets_;  // of the batch, ascending
  Instant sent_ = Instant::min();
  bool in_doubt_ = false;  // the reply was lost: claimed or not? Until that is known, this Claimer claims nothing else
  // The same for tasks in one part of the store, ascending: those in other parts are claimed meanwhile.
  std::vector<task::Ticket> doubtful_;
  std::vector<std::unique_ptr<Held>> doubtful_held_;
  Instant look_at_ = Instant::min();
  int looks_failed_ = 0;
};

}  // namespace easyretry::engine
