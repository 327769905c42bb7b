#pragma once

#include <easyretry/time.h>

namespace easyretry::base {

// now + delay without overflow: the result stays at the end of time. Millis::max() means "forever".
constexpr TimePoint later(TimePoint now, Millis delay) {
  if (delay > Millis{0} && now > TimePoint::max() - delay) return TimePoint::max();
  if (delay < Millis{0} && now < TimePoint::min() - delay) return TimePoint::min();
  return now + delay;
}

}  // namespace easyretry::base
