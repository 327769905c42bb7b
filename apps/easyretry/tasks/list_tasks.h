#pragma once
// easyretry tasks list, easyretry history list.

namespace CLI {
class App;
}

namespace easyretry::app {

enum class Listed { live, ended };

// Adds "list" to `noun`.
void add_list_command(CLI::App& noun, Listed what);

}  // namespace easyretry::app
