#pragma once
// The same change to all tasks that filters find: POST /v1/bulk, and waiting until it is done.

#include <string>

#include "service/service.h"
#include "tasks/task_filters.h"

namespace easyretry::app {

struct ManyChanges {
  std::string verb;  // "cancel", as the API calls it
  std::string past;  // "cancelled"
  Filters filters;   // none: every task
  bool yes = false;
  bool dry_run = false;
  bool as_json = false;
  bool untold = false;  // of "cancel": owners are not told
};

// Asks for confirmation, with the number of tasks that were found, unless `yes` says that it is given.
void change_many(Service& service, const ManyChanges& changes);

}  // namespace easyretry::app
