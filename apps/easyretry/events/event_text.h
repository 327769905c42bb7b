#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "printing/terminal.h"

namespace easyretry::app {

// One line for people: when, what, of which task, and why.
std::string event_line(const nlohmann::json& event, const Terminal& terminal);

}  // namespace easyretry::app
