#pragma once
// easyretry tasks list, easyretry history list.

#include "tasks/task_filters.h"

namespace easyretry::app {

// Adds "list" to `noun`.
void add_list_command(CLI::App& noun, Listed what);

}  // namespace easyretry::app
