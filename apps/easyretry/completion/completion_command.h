#pragma once

namespace CLI {
class App;
}

namespace easyretry::app {

// easyretry completion bash|zsh|fish: a script for the shell. Of all commands that `app` has when it is run.
void add_completion_command(CLI::App& app);

}  // namespace easyretry::app
