#pragma once
// Calls handlers behind URLs: thousands at a time on one thread, guarded, by connections that are kept for the next
// call.
//
//   Caller caller{{.guard = Guard{{"billing.internal"}}}};
//   caller.start(to_call(delivery, endpoint, now, stop), [](Heard heard) { … });

#include <cstddef>
#include <functional>
#include <memory>

#include "webhook/call.h"
#include "webhook/options.h"

namespace easyretry::webhook {

class Caller {
 public:
  // On the caller's own thread, once for each call: must neither wait nor throw, and must not destroy the Caller; may
  // start further calls.
  using Done = std::function<void(Heard)>;

  // Throws std::invalid_argument for options that make no sense.
  explicit Caller(CallerOptions options = {});
  // Ends all calls: each is told so before this returns.
  ~Caller();
  Caller(const Caller&) = delete;
  Caller& operator=(const Caller&) = delete;

  // From any thread; never waits. Whatever is wrong with the call is told to `done`, which comes at the latest when the
  // call's timeout is over. Throws std::invalid_argument where `done` is empty.
  void start(Call call, Done done);

  std::size_t under_way() const;
  std::size_t waiting() const;  // in line, for want of room

 private:
  class Impl;
  const std::unique_ptr<Impl> impl_;
};

}  // namespace easyretry::webhook
