#pragma once
// The events of a daemon as they happen.

#include <functional>
#include <stop_token>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "remote/connection.h"

namespace easyretry::app {

struct EventFilter {
  std::vector<std::string> kinds{};     // empty: all
  std::vector<std::string> handlers{};  // empty: all
};

// Calls `on_event` for each event of the daemon until `stop` is requested. After a lost connection, tells `warn`,
// connects again and continues after the last event. Throws ApiError, or std::runtime_error if the first one fails.
void follow_events(const remote::DaemonAddress& daemon, const EventFilter& filter, const std::stop_token& stop,
                   const std::function<void(const nlohmann::json& event)>& on_event,
                   const std::function<void(const std::string& warning)>& warn);

}  // namespace easyretry::app
