#pragma once
// A task as somebody wants it, from JSON.

#include <vector>

#include <easyretry/json_text.h>

#include "server/space.h"

namespace easyretry::server {

// One object, or {"tasks": […]}.
struct WantedTasks {
  std::vector<task::NewTask> tasks;
  bool one = true;
};
WantedTasks wanted_tasks(Space& space, JsonView body);

}  // namespace easyretry::server
