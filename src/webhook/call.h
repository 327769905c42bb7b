#pragma once
// What is sent to a handler behind a URL, and what is heard of it.

#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include <easyretry/error.h>
#include <easyretry/time.h>

#include "webhook/header.h"

namespace easyretry::webhook {

struct Call {
  std::string url;
  std::string body{};  // posted
  std::vector<Header> headers{};
  Millis timeout{30'000};  // from start() to the end, also for what waits in line
  std::stop_token stop{};  // ends it at once
};

struct Answer {
  int status = 0;
  std::string body{};
  std::optional<Millis> retry_after{};

  // Redirections are not followed, and are no success.
  bool succeeded() const { return status >= 200 && status < 300; }
};

// An error says in words, for whoever is on call, what happened and what can be done:
//   invalid_argument   the call itself is wrong, or its address may not be called
//   unavailable        the handler has not heard of it
//   in_doubt           the handler may have done it: the answer did not come, was not whole, or was too long
using Heard = Result<Answer>;

}  // namespace easyretry::webhook
