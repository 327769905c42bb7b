#pragma once
// Calls handlers behind URLs: thousands at a time on one thread, over connections that are kept for later calls. A
// Guard decides which addresses may be called.
//
//   Caller caller{{.guard = Guard{{"billing.internal"}}}};
//   caller.start(to_call(delivery, endpoint, now, stop), [](CallResult result) { … });

#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include <easyretry/time.h>

#include "webhook/call.h"
#include "webhook/guard.h"
#include "webhook/resolver.h"

namespace easyretry::webhook {

struct CallerOptions {
  // In flight at a time; more calls are queued. Each needs a file descriptor.
  std::size_t most_calls = 10'000;
  std::size_t most_per_server = 1'000;  // per host and port

  std::size_t most_answer_bytes = std::size_t{1024} * 1024;
  Millis connect_within{10'000};  // including TLS, and never longer than the call's own timeout
  Millis keep_idle{
      60'000};  // idle connections, while there is no call: libcurl does not notice then that a peer has closed one

  Guard guard{};
  std::string ca_file{};  // PEM: certificate authorities to trust, instead of this machine's
  LookUp look_up = look_up_here;
};

// Throws std::invalid_argument with the option and its valid values.
void validate(const CallerOptions& options);

class Caller {
 public:
  // Called once for each call, on the Caller's own thread. Must not block, throw or destroy the Caller; may start
  // further calls.
  using Done = std::function<void(CallResult)>;

  // Throws std::invalid_argument for invalid options.
  explicit Caller(CallerOptions options = {});
  // Ends all calls; each callback has run before this returns.
  ~Caller();
  Caller(const Caller&) = delete;
  Caller& operator=(const Caller&) = delete;

  // Thread-safe; never blocks. Every problem with the call is passed to `done`, which runs at the latest when the call
  // times out. Throws std::invalid_argument if `done` is empty.
  void start(Call call, Done done);

  const Guard& guard() const;
  std::size_t in_flight() const;
  std::size_t waiting() const;  // queued, because of the limits

 private:
  class Impl;
  const std::unique_ptr<Impl> impl_;
};

}  // namespace easyretry::webhook
