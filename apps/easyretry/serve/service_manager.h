#pragma once
// What systemd is told of a service with Type=notify; without one, nobody is told anything.

#include <string_view>

namespace easyretry::app {

// "READY=1", "STOPPING=1"
void tell_service_manager(std::string_view state);

}  // namespace easyretry::app
