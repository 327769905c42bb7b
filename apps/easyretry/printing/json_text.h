#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

namespace easyretry::app {

// In one line that programs read and no terminal obeys, whatever keys and errors say.
std::string json_text(const nlohmann::json& value);

}  // namespace easyretry::app
