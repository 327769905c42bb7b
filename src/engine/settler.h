#pragma once
// Collects outcomes and writes them in batches. What could not be written stays here, its lease renewed, until the
// store answers; one row that the store refuses does not hold up the others, nor do those whose part of the store does
// not answer.

#include <vector>

#include "engine/context.h"
#include "engine/holdings.h"
#include "engine/outcomes.h"
#include "engine/schedule.h"
#include "engine/step.h"
#include "engine/workers.h"

namespace easyretry::engine {

class Settler {
 public:
  Settler(Context& context, Outcomes& outcomes, Holdings& holdings, Schedule& schedule, const Workers& workers);

  Step step();

  // What another thread has written itself.
  void written(const RunPtr& run, const task::Settlement& settlement, bool applied, TimePoint now);

 private:
  using Item = Outcomes::Item;
  bool gathers();
  void take_out(std::size_t from, std::size_t n, bool postponed);
  void write(std::span<Item> items);
  void refused(std::span<Item> items, const Error& error);
  void written(std::span<Item> items, const storage::Applied& reply);
  std::optional<Offer> again(const Run& run, const task::Settlement& settlement, TimePoint now) const;
  void release(std::span<const Item> items);

  Context& context_;
  Outcomes& outcomes_;
  Holdings& holdings_;
  Schedule& schedule_;
  const Workers& workers_;
  std::vector<Item> pending_;
  std::size_t postponed_ = 0;  // so many of them, the first: their part of the store did not answer
  Instant postponed_until_ = Instant::max();
  int postponements_ = 0;         // in a row
  std::vector<Item> unanswered_;  // of the batch that is written
  std::vector<Offer> reoffers_;
  Instant gather_until_ = Instant::max();  // max: not gathering
  bool failed_ = false;
  int failures_ = 0;
};

}  // namespace easyretry::engine
