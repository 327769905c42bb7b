#pragma once

#include <easyretry/config.h>

#include "doctor/finding.h"

namespace easyretry::app {

// The files that the configuration names, as far as they are on this machine: who may read them, and whether they can
// be used.
Findings check_files(const Config& config);

}  // namespace easyretry::app
