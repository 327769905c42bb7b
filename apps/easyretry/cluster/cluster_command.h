#pragma once

namespace CLI {
class App;
}

namespace easyretry::app {

// easyretry cluster: the instances that share a store, and how late its shards are.
void add_cluster_command(CLI::App& app);

}  // namespace easyretry::app
