#pragma once
// Turns due tasks into claimed ones, in batches as large as the moment asks for: one when idle, hundreds when loaded,
// and never more than the workers can soon run. Several share one Schedule, each with a thread of its own.

#include <vector>

#include "engine/context.h"
#include "engine/dispatcher.h"
#include "engine/holdings.h"
#include "engine/schedule.h"
#include "engine/step.h"
#include "engine/workers.h"

namespace easyretry::engine {

class Claimer {
 public:
  Claimer(std::size_t number, Context& context, Schedule& schedule, Holdings& holdings, Workers& workers)
      : number_(number),
        context_(context),
        schedule_(schedule),
        holdings_(holdings),
        dispatcher_(context, holdings, workers) {}

  Step step();

 private:
  void claim(bool begin);
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
  Holdings& holdings_;
  Dispatcher dispatcher_;
  std::vector<WheelEntry> batch_;
  std::vector<task::Ticket> tickets_;  // of the batch, ascending
  Instant sent_ = Instant::min();
  bool in_doubt_ = false;  // claimed or not: the reply was lost. Nothing else is claimed here before that is known
  // The same of tasks in a part of the store, ascending: those in other parts are claimed meanwhile.
  std::vector<task::Ticket> doubtful_;
  Instant look_at_ = Instant::min();
  int looks_failed_ = 0;
};

}  // namespace easyretry::engine
