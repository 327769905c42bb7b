#pragma once
// A handler whose tasks are not run for the time being, because somebody said so.

#include <string>

#include <easyretry/time.h>

namespace easyretry {

struct PausedHandler {
  std::string handler;
  TimePoint since{};  // by the store's clock
  std::string why{};  // as was said; may be empty

  friend bool operator==(const PausedHandler&, const PausedHandler&) = default;
};

}  // namespace easyretry
