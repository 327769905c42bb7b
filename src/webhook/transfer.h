#pragma once
// One call made by libcurl, and the error if there is no answer. For one thread.

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include <easyretry/error.h>

#include "webhook/call.h"
#include "webhook/destination.h"

namespace easyretry::webhook {

struct CallerOptions;

// How far a transfer got.
struct Progress {
  bool sent = false;         // at least part of the request
  std::size_t received = 0;  // bytes of the answer's body
  std::string refused{};     // the reason of the guard
  bool too_long = false;
  int system_error = 0;  // errno of a socket that could not be created or connected
  std::string detail{};  // the message of libcurl
};

// `code` comes from libcurl and is not CURLE_OK.
Error failure(int code, const Destination& destination, const Progress& progress, const CallerOptions& options);

// The call timed out or was stopped during the transfer.
Error cut_off(const std::string& why, const Destination& destination, const Progress& progress);

class Transfer {
 public:
  // The call, the destination and the options must outlive it. The addresses are those of the name in the destination;
  // empty if the destination is an address.
  Transfer(CallId id, const Call& call, const Destination& destination, std::span<const IpAddress> addresses,
           const CallerOptions& options);
  ~Transfer();
  Transfer(const Transfer&) = delete;
  Transfer& operator=(const Transfer&) = delete;

  void* handle() const;  // libcurl's easy handle, a void* to the compiler; its private data points to the id

  // The result, after libcurl has ended the transfer with this code. Call it once.
  CallResult result(int code);
  Progress progress() const;

 private:
  struct State;
  const std::unique_ptr<State> state_;
};

}  // namespace easyretry::webhook
