#pragma once
// The checks of `easyretry doctor`.

#include <string>

#include <easyretry/config.h>

#include "server/doctor.h"

namespace easyretry::app {

using server::Finding;
using server::Findings;
using server::Health;
using server::Lateness;

// The files in the configuration, if they are on this machine: their permissions, and whether they can be used.
Findings check_files(const Config& config);

// Opens the configured store, which must exist, and checks it: false if it cannot be opened. Creates and changes
// nothing. `where` is added to the commands that are recommended: " --store …".
bool check_store(const Config& config, const Lateness& bounds, const std::string& where, Findings& findings);

}  // namespace easyretry::app
