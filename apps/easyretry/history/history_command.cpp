#include "history/history_command.h"

#include <CLI/CLI.hpp>

#include "tasks/list_tasks.h"

namespace easyretry::app {

void add_history_command(CLI::App& app) {
  auto* history = app.add_subcommand("history", "Lists tasks that have ended");
  history->require_subcommand(1);
  add_list_command(*history, Listed::ended);
}

}  // namespace easyretry::app
