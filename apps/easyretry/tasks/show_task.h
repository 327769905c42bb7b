#pragma once

namespace CLI {
class App;
}

namespace easyretry::app {

// easyretry tasks show: all that is known of one task.
void add_show_command(CLI::App& tasks);

}  // namespace easyretry::app
