#pragma once
// What a part says after one step: whether it did anything, and when it wants the next one unless its bell rings.

#include <easyretry/time.h>

namespace easyretry::engine {

struct Step {
  bool worked = false;
  Instant wake = Instant::max();

  static Step again() { return {true, Instant::min()}; }
};

}  // namespace easyretry::engine
