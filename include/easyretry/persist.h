#pragma once
// When a direct call, `pay(order)`, is written to the store.

namespace easyretry {

enum class Persist {
  retry_only,  // after the first attempt failed, if the failure is worth retrying
  on_failure,  // after the first attempt failed; a failure not worth retrying goes straight to history
  always,      // before the first attempt, leased to the caller; if the process dies, another instance takes over
  manual,      // when the caller asks for it: pay.store(order, why)
  never,       // never: failures are retried in memory
};

}  // namespace easyretry
