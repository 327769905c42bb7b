#pragma once
// Two kinds of time, kept apart by type.
//
// TimePoint is the store's time: due times and leases are stored in it, and only the store compares them with now.
// Instant is this process's steady time: it measures durations and never jumps.

#include <chrono>

#pragma GCC visibility push(default)
namespace easyretry {

using Millis = std::chrono::milliseconds;
using TimePoint = std::chrono::sys_time<Millis>;
using Instant = std::chrono::steady_clock::time_point;

// The source of time. Implementations are thread-safe.
class Clock {
 public:
  virtual ~Clock() = default;
  virtual TimePoint now() const = 0;   // wall time, UTC; may jump
  virtual Instant steady() const = 0;  // never goes backwards
};

// The system's clocks; lives as long as the program.
const Clock& system_clock();

}  // namespace easyretry
#pragma GCC visibility pop
