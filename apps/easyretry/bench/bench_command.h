#pragma once

namespace CLI {
class App;
}

namespace easyretry::app {

// easyretry bench: how fast a store and the engine on it are, here and now.
void add_bench_command(CLI::App& app);

}  // namespace easyretry::app
