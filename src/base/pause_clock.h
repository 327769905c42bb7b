#pragma once
// The clock of pauses: before a retry, a reconnect, another look. It is a parameter, so that a test sees every pause
// and waits for none (tests/support/manual_pauses.h).

#include <chrono>

#include <easyretry/time.h>

namespace easyretry::base {

// Implementations are thread-safe.
class PauseClock {
 public:
  virtual ~PauseClock() = default;
  virtual Instant now() const = 0;
  virtual void sleep(std::chrono::nanoseconds time) const = 0;  // on the caller's thread
};

// The system's; lives as long as the program.
const PauseClock& system_pauses();

}  // namespace easyretry::base
