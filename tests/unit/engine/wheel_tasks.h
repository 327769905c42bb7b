#pragma once
// Tasks for the tests of the wheel.

#include <vector>

#include "engine/wheel.h"

namespace easyretry::engine {

// Not a multiple of a bucket, as no real time is.
inline constexpr TimePoint kStart{Millis{1'760'000'000'017}};

inline DueTask task(int id, TimePoint due) {
  return {{TaskId{id}, id + 1}, due, static_cast<std::uint16_t>(id)};
}

inline std::vector<DueTask> take(Wheel& wheel, TimePoint now) {
  std::vector<DueTask> out;
  wheel.take_due(now, out);
  return out;
}

}  // namespace easyretry::engine
