#pragma once
// Why there is no answer, in words for whoever is on call.

#include <cstddef>
#include <string>

#include <easyretry/error.h>

#include "webhook/call.h"
#include "webhook/destination.h"
#include "webhook/options.h"

namespace easyretry::webhook {

// How far a transfer has come.
struct Progress {
  bool sent = false;         // at least a part of the request
  std::size_t received = 0;  // of the answer's body
  std::string refused{};     // what the guard said
  bool too_long = false;
  int system_error = 0;  // errno of a socket that could not be made or connected
  std::string detail{};  // libcurl's own words
};

// `code` is libcurl's, and not CURLE_OK.
Error failure(int code, const Destination& destination, const Progress& progress, const CallerOptions& options);

// The call's own time is over, or somebody ended it, while it was transferred.
Error cut_off(const std::string& why, const Destination& destination, const Progress& progress);

}  // namespace easyretry::webhook
