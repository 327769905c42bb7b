#pragma once

namespace CLI {
class App;
}

namespace easyretry::app {

// easyretry tasks submit: stores one task.
void add_submit_command(CLI::App& tasks);

}  // namespace easyretry::app
