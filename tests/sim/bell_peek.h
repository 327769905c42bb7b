#pragma once
// Whether a Bell was rung. The engine's threads only ever wait for it, so the Bell does not say; the simulator, which
// has no threads, must know whom to wake. An explicit instantiation may name a private member, which spares the engine
// a method that only tests would call.

#include <utility>

#include "engine/bell.h"

namespace easyretry::sim {
namespace bell_peek {

template <bool engine::Bell::*Rung>
struct Expose {
  friend bool& rung(engine::Bell& bell) { return bell.*Rung; }
};
bool& rung(engine::Bell& bell);
template struct Expose<&engine::Bell::rung_>;

}  // namespace bell_peek

inline bool rung(engine::Bell& bell) {
  return bell_peek::rung(bell);
}
inline bool take_ring(engine::Bell& bell) {
  return std::exchange(bell_peek::rung(bell), false);
}

}  // namespace easyretry::sim
