#pragma once

namespace CLI {
class App;
}

namespace easyretry::app {

// easyretry history: what has ended.
void add_history_command(CLI::App& app);

}  // namespace easyretry::app
