#pragma once

namespace CLI {
class App;
}

namespace easyretry::app {

// easyretry mxrmq fsck | import: a queue of mx-rmq is looked over, or moved into a store of ours.
void add_mxrmq_command(CLI::App& app);

}  // namespace easyretry::app
