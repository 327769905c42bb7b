#pragma once
// The guards that keep a task from being lost, run twice or blamed for the crash of another. They are always on in the
// product; tests/sim builds the simulator with one of them off at a time to show that it notices.

namespace easyretry::task::guards {

#ifdef EASYRETRY_WITHOUT_CAS_ON_VERSION
inline constexpr bool cas_on_version = false;
#else
inline constexpr bool cas_on_version = true;
#endif

#ifdef EASYRETRY_WITHOUT_LEASE_CHECK
inline constexpr bool lease_check_on_claim = false;
#else
inline constexpr bool lease_check_on_claim = true;
#endif

#ifdef EASYRETRY_WITHOUT_ATTEMPT_BEFORE_RUN
inline constexpr bool attempt_counted_before_run = false;
#else
inline constexpr bool attempt_counted_before_run = true;
#endif

#ifdef EASYRETRY_WITHOUT_FENCE_ON_SETTLE
inline constexpr bool fence_on_settle = false;
#else
inline constexpr bool fence_on_settle = true;
#endif

#ifdef EASYRETRY_WITHOUT_PROOF_OF_CRASHES
inline constexpr bool only_proven_crashes = false;
#else
inline constexpr bool only_proven_crashes = true;
#endif

}  // namespace easyretry::task::guards
