#pragma once
// Housekeeping in the store: creates tables ahead of time, drops old ones, removes ended tasks that their handlers keep
// for a shorter time, and adds up counters. Safe on every instance at once.

#include <cstdint>
#include <vector>

#include "engine/context.h"

namespace easyretry::engine {

class Keeper {
 public:
  explicit Keeper(Context& context)
      : context_(context), fold_at_(context.store.info().folds ? Instant::min() : Instant::max()) {}

  Step step();

  Wakeup wakeup;

 private:
  // Each returns when it wants to be called again.
  Instant keep();
  Instant fold();
  Instant expire();
  std::uint64_t work_done() const;
  std::vector<storage::Retention> rules() const;

  Context& context_;
  Instant keep_at_ = Instant::min();
  Instant fold_at_;
  Instant fold_for_others_at_ = Instant::min();
  std::uint64_t folded_work_ = 0;  // work_done() at the time when nothing was left to add up
  Instant expire_at_ = Instant::min();
  std::vector<storage::Retention> expired_rules_;  // the rules under which nothing was left to remove at expired_at_
  Instant expired_at_ = Instant::min();
};

}  // namespace easyretry::engine
