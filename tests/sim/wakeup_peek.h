#pragma once
// Whether a Wakeup was notified. The engine's threads only wait for it, so it has no such question; the simulator,
// which has no threads, must know whom to wake. An explicit instantiation may name a private member, which spares the
// engine a method that only tests would call.

#include <utility>

#include "engine/wakeup.h"

namespace easyretry::sim {
namespace wakeup_peek {

template <bool engine::Wakeup::*Notified>
struct Expose {
  friend bool& notified(engine::Wakeup& wakeup) { return wakeup.*Notified; }
};
bool& notified(engine::Wakeup& wakeup);
template struct Expose<&engine::Wakeup::notified_>;

}  // namespace wakeup_peek

inline bool notified(engine::Wakeup& wakeup) {
  return wakeup_peek::notified(wakeup);
}
inline bool take_notification(engine::Wakeup& wakeup) {
  return std::exchange(wakeup_peek::notified(wakeup), false);
}

}  // namespace easyretry::sim
