#pragma once

#include <easyretry/config.h>

#include "doctor/finding.h"

namespace easyretry::app {

// Opens the store that the configuration names, which must be there, and looks at it; nothing is made or changed.
Findings check_store(const Config& config);

}  // namespace easyretry::app
