#pragma once

namespace CLI {
class App;
}

namespace easyretry::app {

// easyretry split: more tables for hash(n), while instances work.
void add_split_command(CLI::App& app);

}  // namespace easyretry::app
