#pragma once
// Housekeeping in the store: tables are made ahead of time, those that are old enough go, and what is to be counted is
// added up. Safe on every instance at once.

#include <cstdint>

#include "engine/bell.h"
#include "engine/context.h"
#include "engine/step.h"

namespace easyretry::engine {

class Keeper {
 public:
  explicit Keeper(Context& context)
      : context_(context), fold_at_(context.store.info().folds ? Instant::min() : Instant::max()) {}

  Step step();

  Bell bell;

 private:
  // Each gives when it wants to be called again.
  Instant keep();
  Instant fold();
  std::uint64_t work_done() const;

  Context& context_;
  Instant keep_at_ = Instant::min();
  Instant fold_at_;
  Instant fold_for_others_at_ = Instant::min();
  std::uint64_t folded_work_ = 0;  // work_done() when there was nothing more to add up
};

}  // namespace easyretry::engine
