#pragma once
// When a direct call, `pay(order)`, is written to the store.

namespace easyretry {

enum class Persist {
  retry_only,  // after the first attempt failed, if that is worth retrying
  on_failure,  // after any first failure; one that is not worth retrying goes to history at once
  always,      // before the first attempt, leased by the caller; if the process dies, another instance goes on
  manual,      // when the caller says so: pay.store(order, why)
  never,       // not at all: retried in memory
};

}  // namespace easyretry
