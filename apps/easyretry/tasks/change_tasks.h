#pragma once

namespace CLI {
class App;
}

namespace easyretry::app {

// easyretry tasks retry, cancel, requeue: of one task or several.
void add_retry_command(CLI::App& tasks);
void add_cancel_command(CLI::App& tasks);
void add_requeue_command(CLI::App& tasks);

}  // namespace easyretry::app
