#pragma once

namespace CLI {
class App;
}

namespace easyretry::app {

// easyretry doctor: what is wrong with an installation, and what to do about it.
void add_doctor_command(CLI::App& app);

}  // namespace easyretry::app
