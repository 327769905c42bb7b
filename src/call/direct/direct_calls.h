#pragma once
// Calls that the application makes itself, `pay(order)`, by the handler's Persist strategy. Everything happens on the
// caller's thread; what has to be stored is stored before the call returns.

#include <functional>

#include <easyretry/retryable.h>

#include "call/direct/failed_keys.h"
#include "engine/core.h"

namespace easyretry::call {

class DirectCalls {
 public:
  // `wait` sleeps; false: the engine stops. `keep_leases` is called before a call that is leased.
  DirectCalls(engine::Core& core, std::function<bool(Millis)> wait, std::function<void()> keep_leases)
      : core_(core), wait_(std::move(wait)), keep_leases_(std::move(keep_leases)) {}

  detail::DirectResult make(const engine::KnownHandler& handler, detail::DirectCall& call,
                            const SubmitOptions& options);
  // The same for a call that was already made once, bare, and threw.
  detail::DirectResult made(const engine::KnownHandler& handler, detail::DirectCall& call,
                            const SubmitOptions& options);

 private:
  engine::Core& core_;
  const std::function<bool(Millis)> wait_;
  const std::function<void()> keep_leases_;
  FailedKeys failed_keys_;
};

}  // namespace easyretry::call
