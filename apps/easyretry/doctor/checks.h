#pragma once
// The checks of `easyretry doctor`.

#include <string>
#include <vector>

#include <easyretry/config.h>

#include "service/service.h"

namespace easyretry::app {

enum class Health { ok, warn, fail };

struct Finding {
  Health health = Health::ok;
  std::string check;   // "clock"
  std::string what{};  // "within a second of the store's"
  std::string todo{};  // empty if there is nothing to do
};

using Findings = std::vector<Finding>;

// The files in the configuration, if they are on this machine: their permissions, and whether they can be used.
Findings check_files(const Config& config);

// Opens the configured store, which must exist, and checks it. Creates and changes nothing.
Findings check_store(const Config& config);

// Whether a daemon answers, which instances it sees, and which of its tasks are late.
Findings check_daemon(Service& daemon);

// Problems with the tasks of a daemon or a store.
Findings check_tasks(Service& service);

}  // namespace easyretry::app
