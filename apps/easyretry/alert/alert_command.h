#pragma once

namespace CLI {
class App;
}

namespace easyretry::app {

void add_alert_command(CLI::App& app);

}  // namespace easyretry::app
