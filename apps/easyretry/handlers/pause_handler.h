#pragma once

namespace CLI {
class App;
}

namespace easyretry::app {

struct HandlersOptions;

// easyretry handlers pause|resume: whether anybody runs tasks of a handler. `options` must live as long as the command.
void add_pause_command(CLI::App& handlers, HandlersOptions& options);
void add_resume_command(CLI::App& handlers, HandlersOptions& options);

}  // namespace easyretry::app
