#pragma once

namespace CLI {
class App;
}

namespace easyretry::app {

// easyretry events: what happens in a daemon, as it happens.
void add_events_command(CLI::App& app);

}  // namespace easyretry::app
