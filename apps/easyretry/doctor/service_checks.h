#pragma once

#include "doctor/finding.h"
#include "service/service.h"

namespace easyretry::app {

// Whether a daemon answers, whom it sees, and what is late there.
Findings check_daemon(Service& daemon);

// What has gone wrong with tasks, of a daemon or a store.
Findings check_tasks(Service& service);

}  // namespace easyretry::app
