#pragma once
// easyretry serve: the daemon.

namespace CLI {
class App;
}

namespace easyretry::app {

void add_serve_command(CLI::App& app);

}  // namespace easyretry::app
