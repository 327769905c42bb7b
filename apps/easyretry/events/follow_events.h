#pragma once

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

// Tells what happens in a daemon until it is stopped. A connection that is lost is made again, from where it was, and
// `warn` is told. Throws Refused, and std::runtime_error where nobody answers in the first place.
void follow_events(const remote::DaemonAddress& daemon, const EventFilter& filter, const std::stop_token& stop,
                   const std::function<void(const nlohmann::json& event)>& tell,
                   const std::function<void(const std::string& warning)>& warn);

}  // namespace easyretry::app
