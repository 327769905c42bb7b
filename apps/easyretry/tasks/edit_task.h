#pragma once

namespace CLI {
class App;
}

namespace easyretry::app {

// easyretry tasks edit: another policy for a task that waits.
void add_edit_command(CLI::App& tasks);

}  // namespace easyretry::app
