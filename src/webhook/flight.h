#pragma once
// A call between start() and its end.

#include <algorithm>
#include <functional>
#include <optional>
#include <stop_token>

#include "webhook/call.h"
#include "webhook/destination.h"
#include "webhook/places.h"
#include "webhook/transfer.h"

namespace easyretry::webhook {

inline constexpr Millis kLongestTimeout = std::chrono::hours{24};

struct Flight {
  enum class Stage { in_line, looking_up, transferring };

  Flight(CallId number, Call what, std::function<void(Heard)> whom, Instant now)
      : id(number),
        call(std::move(what)),
        done(std::move(whom)),
        deadline(now + std::clamp(call.timeout, Millis{0}, kLongestTimeout)) {}

  const CallId id;
  const Call call;
  const std::function<void(Heard)> done;
  const Instant deadline;

  Destination destination{};
  Stage stage = Stage::in_line;
  std::optional<Transfer> transfer{};
  // While it is being destroyed a stop may be under way on another thread, which is waited for: it only leaves an
  // errand.
  std::optional<std::stop_callback<std::function<void()>>> on_stop{};
};

// Why this call cannot be made. Fills in its destination.
std::optional<Error> objection(Flight& flight);

// What is said of a call that ends at this stage without libcurl ending it.
Error ended_early(const Flight& flight, const std::string& why, const Places& places);

}  // namespace easyretry::webhook
