#pragma once
// A handler that an operator or the application has paused: its stored tasks do not run.

#include <string>

#include <easyretry/time.h>

namespace easyretry {

struct PausedHandler {
  std::string handler;
  TimePoint since{};  // by the store's clock
  std::string why{};  // the reason given to pause(); may be empty

  friend bool operator==(const PausedHandler&, const PausedHandler&) = default;
};

}  // namespace easyretry
