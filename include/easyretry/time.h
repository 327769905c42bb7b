#pragma once
// Two kinds of time, kept apart by type.
//
// TimePoint is the store's time: it is stored, compared with due times and leases, and only the store judges by it.
// Instant is this process's steady time: it measures durations and never jumps.

#include <chrono>

namespace easyretry {

using Millis = std::chrono::milliseconds;
using TimePoint = std::chrono::sys_time<Millis>;
using Instant = std::chrono::steady_clock::time_point;

// Where time comes from. Implementations are safe to call from any thread.
class Clock {
 public:
  virtual ~Clock() = default;
  virtual TimePoint now() const = 0;   // wall time, UTC; may jump
  virtual Instant steady() const = 0;  // never goes back
};

// The machine's clocks; lives for the whole program.
const Clock& system_clock();

}  // namespace easyretry
