#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace easyretry {

// Counted on this instance, since the engine started.
struct Stats {
  std::uint64_t stored = 0;
  std::uint64_t claimed = 0;
  std::uint64_t succeeded = 0;
  std::uint64_t retried = 0;  // failed attempts for which another was scheduled
  std::uint64_t exhausted = 0;
  std::uint64_t rejected = 0;
  std::uint64_t quarantined = 0;
  std::uint64_t parked = 0;
  std::uint64_t cancelled = 0;
  std::uint64_t handed_back = 0;
  std::uint64_t callback_failures = 0;
  std::uint64_t callbacks_abandoned = 0;
  std::uint64_t lost_claims = 0;    // another instance was first; normal with several instances
  std::uint64_t stale_settles = 0;  // finished after the lease was lost; ignored
  std::uint64_t leases_lost = 0;
  std::uint64_t timeouts = 0;
  std::uint64_t store_errors = 0;
  std::uint64_t internal_errors = 0;    // bugs in the library that the engine survived
  std::uint64_t listener_failures = 0;  // listeners that threw
  std::uint64_t events_dropped = 0;     // because a queued listener was too slow
  std::uint64_t lost_in_memory = 0;     // Persist::never: retries still waiting when the engine stopped

  std::uint64_t read_ahead = 0;                     // tasks in memory, waiting to become due
  std::uint64_t running = 0;                        // claimed and not yet settled
  std::map<std::string, std::uint64_t> no_handler;  // due tasks of handlers that are not registered on this instance
};

}  // namespace easyretry
