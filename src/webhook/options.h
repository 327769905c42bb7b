#pragma once

#include <cstddef>
#include <string>

#include <easyretry/time.h>

#include "webhook/guard.h"
#include "webhook/resolver.h"

namespace easyretry::webhook {

struct CallerOptions {
  // Under way at once; others wait in line. Each needs a file descriptor.
  std::size_t most_calls = 10'000;
  std::size_t most_per_server = 1'000;  // a host and a port

  std::size_t most_answer_bytes = std::size_t{1024} * 1024;
  Millis connect_within{10'000};  // TLS, too; and never longer than the call's own timeout
  Millis keep_idle{60'000};  // connections, when there is nothing to call; libcurl does not see then who has hung up

  Guard guard{};
  std::string ca_file{};  // PEM: the authorities that vouch for servers, instead of this machine's
  LookUp look_up = look_up_here;
};

// Throws std::invalid_argument naming the option and what would be right.
void validate(const CallerOptions& options);

}  // namespace easyretry::webhook
