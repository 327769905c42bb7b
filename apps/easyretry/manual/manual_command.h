#pragma once

namespace CLI {
class App;
}

namespace easyretry::app {

// easyretry manual: the page that `man easyretry` shows, in roff. Of all commands that `app` has when it is run.
void add_manual_command(CLI::App& app);

}  // namespace easyretry::app
