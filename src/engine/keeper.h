#pragma once
// Housekeeping in the store: tables are made ahead of time, those that are old enough go, and what is to be counted is
// added up. Safe on every instance at once.

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

  Context& context_;
  Instant keep_at_ = Instant::min();
  Instant fold_at_;
};

}  // namespace easyretry::engine
