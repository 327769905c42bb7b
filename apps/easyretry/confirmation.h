#pragma once

#include <string>

namespace easyretry::app {

// Asks on the terminal and returns on a yes. Throws std::runtime_error for anything else, and where there is nobody to
// ask.
void require_yes(const std::string& question);

}  // namespace easyretry::app
