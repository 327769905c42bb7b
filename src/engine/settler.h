#pragma once
// Collects outcomes and writes them in batches. If a write fails, the outcomes stay here, their leases renewed, until
// the store answers. A row that the store refuses does not hold up the others, nor do those in a part of the store that
// does not answer.

#include <optional>
#include <vector>

#include "engine/context.h"
#include "engine/in_flight.h"
#include "engine/schedule.h"
#include "engine/workers.h"

namespace easyretry::engine {

class Settler {
 public:
  Settler(Context& context, Outcomes& outcomes, InFlight& in_flight, Schedule& schedule, const Workers& workers);

  Step step();

  // Writes these outcomes before it returns, without the queue. From any thread. For each: false if the task has moved
  // on, and nothing was changed. `in_doubt`: a part of the store did not answer; its outcomes are safe to send again.
  Result<std::vector<bool>> settle_now(std::span<const Settled> settled);

 private:
  Result<storage::Applied> send(std::span<const Settled> settled);
  // Reports what was written and forgets it; returns what the store did not answer for.
  std::vector<Settled> finish(std::span<const Settled> settled, const storage::Applied& reply);
  std::optional<DueTask> again(const Settled& settled, TimePoint now) const;

  bool gathers();
  void take_out(std::size_t from, std::size_t n, bool postponed);
  void write(std::span<Settled> settled);
  void refused(std::span<Settled> settled, const Error& error);

  Context& context_;
  Outcomes& outcomes_;
  InFlight& in_flight_;
  Schedule& schedule_;
  const Workers& workers_;

  // Used only by the settling thread
  std::vector<Settled> pending_;
  std::size_t postponed_ = 0;  // at the front of pending_: the store did not answer for these
  Instant postponed_until_ = Instant::max();
  int postponements_ = 0;                  // in a row
  std::vector<Settled> unanswered_;        // of the batch that is being written
  Instant gather_until_ = Instant::max();  // max: not gathering
  bool failed_ = false;
  int failures_ = 0;
};

}  // namespace easyretry::engine
