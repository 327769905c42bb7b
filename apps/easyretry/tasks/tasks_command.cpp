#include "tasks/tasks_command.h"

#include <CLI/CLI.hpp>

#include "tasks/change_tasks.h"
#include "tasks/edit_task.h"
#include "tasks/list_tasks.h"
#include "tasks/show_task.h"
#include "tasks/submit_task.h"

namespace easyretry::app {

void add_tasks_command(CLI::App& app) {
  auto* tasks = app.add_subcommand("tasks", "Lists, shows, submits, retries, edits, cancels and requeues tasks");
  tasks->require_subcommand(1);
  add_list_command(*tasks, Listed::live);
  add_show_command(*tasks);
  add_submit_command(*tasks);
  add_retry_command(*tasks);
  add_edit_command(*tasks);
  add_cancel_command(*tasks);
  add_requeue_command(*tasks);
}

}  // namespace easyretry::app
