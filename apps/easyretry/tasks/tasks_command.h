#pragma once

namespace CLI {
class App;
}

namespace easyretry::app {

// easyretry tasks: lists, shows, submits, cancels and requeues tasks, of a daemon or straight on a store.
void add_tasks_command(CLI::App& app);

}  // namespace easyretry::app
