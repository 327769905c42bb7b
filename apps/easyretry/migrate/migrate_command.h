#pragma once

namespace CLI {
class App;
}

namespace easyretry::app {

// easyretry migrate: a newer schema for a store.
void add_migrate_command(CLI::App& app);

}  // namespace easyretry::app
