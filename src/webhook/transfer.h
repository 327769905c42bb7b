#pragma once
// One call as libcurl makes it. One thread.

#include <memory>
#include <span>

#include "webhook/call.h"
#include "webhook/failure.h"
#include "webhook/places.h"

namespace easyretry::webhook {

class Transfer {
 public:
  // The call, the destination and the options outlive it; the addresses are where the destination's name leads to, none
  // where it is an address itself.
  Transfer(CallId id, const Call& call, const Destination& destination, std::span<const IpAddress> addresses,
           const CallerOptions& options);
  ~Transfer();
  Transfer(const Transfer&) = delete;
  Transfer& operator=(const Transfer&) = delete;

  void* handle() const;  // libcurl's, which is void to compilers; its private data points to the id

  // What libcurl's code means, once it has ended the transfer. Once.
  Heard heard(int code);
  Progress progress() const;

 private:
  struct State;
  const std::unique_ptr<State> state_;
};

}  // namespace easyretry::webhook
