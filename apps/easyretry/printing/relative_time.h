#pragma once

#include <string>

#include <easyretry/time.h>

namespace easyretry::app {

// "45 s", "3 min", "2 h", "5 days": one unit, rounded down.
std::string age_text(Millis age);

// "in 3 min", "2 h ago", "now".
std::string relative_text(TimePoint time, TimePoint now);

}  // namespace easyretry::app
