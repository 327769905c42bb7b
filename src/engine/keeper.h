#pragma once
// Housekeeping in the store: tables are made ahead of time, and those that are old enough go. Safe on every instance at
// once.

#include "engine/bell.h"
#include "engine/context.h"
#include "engine/step.h"

namespace easyretry::engine {

class Keeper {
 public:
  explicit Keeper(Context& context) : context_(context) {}

  Step step();

  Bell bell;

 private:
  Context& context_;
};

}  // namespace easyretry::engine
