#pragma once

namespace CLI {
class App;
}

namespace easyretry::app {

// easyretry config check: what a configuration means, or what is wrong with it.
void add_config_command(CLI::App& app);

}  // namespace easyretry::app
