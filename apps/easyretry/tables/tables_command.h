#pragma once

namespace CLI {
class App;
}

namespace easyretry::app {

// easyretry tables: what a database server keeps the tasks in, and what the keeper is about to do with it.
void add_tables_command(CLI::App& app);

}  // namespace easyretry::app
