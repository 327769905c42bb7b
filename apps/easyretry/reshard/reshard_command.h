#pragma once

namespace CLI {
class App;
}

namespace easyretry::app {

// easyretry reshard: another number of shards, while no instance works.
void add_reshard_command(CLI::App& app);

}  // namespace easyretry::app
