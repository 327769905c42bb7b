#pragma once

namespace CLI {
class App;
}

namespace easyretry::app {

// easyretry handlers: those that have tasks, and how many.
void add_handlers_command(CLI::App& app);

}  // namespace easyretry::app
