#pragma once
// Parts of a task, which is as the API gives it, as people read them.

#include <string>

#include <nlohmann/json_fwd.hpp>

#include <easyretry/time.h>

#include "printing/table.h"

namespace easyretry::app {

// What has become of it: "running", "pending: on_success", "pending, nobody serves it", "exhausted".
Cell state_cell(const nlohmann::json& task);

// "in 3 min"; empty where the task has no such time.
std::string when(const nlohmann::json& task, const char* field, TimePoint now);

}  // namespace easyretry::app
