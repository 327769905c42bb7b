#pragma once
// easyretry token: who may use the API of `easyretry serve`.

namespace CLI {
class App;
}

namespace easyretry::app {

void add_token_command(CLI::App& app);

}  // namespace easyretry::app
