// easyretry: one program with many commands.

#include <clocale>
#include <exception>
#include <iostream>
#include <string>

#include <CLI/CLI.hpp>

#include <easyretry/version.h>

#include "base/harmless.h"
#include "command_line.h"
#include "commands.h"

namespace {

constexpr int kInvalidCommandLine = 2;

// Help and version also end the parsing, and a command may end with its own exit code.
bool is_an_error(const CLI::ParseError& e) {
  return e.get_exit_code() != 0 && dynamic_cast<const CLI::RuntimeError*>(&e) == nullptr;
}

// `easyretry nonsense --help`: there is no help for it.
bool asks_about_nothing(const CLI::App& app, const CLI::ParseError& e) {
  return dynamic_cast<const CLI::CallForHelp*>(&e) != nullptr && easyretry::app::has_unexpected_word(app);
}

}  // namespace

int main(int argc, char** argv) {
  std::setlocale(LC_CTYPE, "C.UTF-8");  // for the widths of columns in tables
  CLI::App app{"EasyRetry: stores failed calls and retries them until they succeed or their policy gives up."};
  app.name("easyretry");
  app.set_version_flag("--version", EASYRETRY_VERSION);
  app.require_subcommand(1);
  easyretry::app::add_alert_command(app);
  easyretry::app::add_bench_command(app);
  easyretry::app::add_circuits_command(app);
  easyretry::app::add_limits_command(app);
  easyretry::app::add_cluster_command(app);
  easyretry::app::add_completion_command(app);
  easyretry::app::add_config_command(app);
  easyretry::app::add_doctor_command(app);
  easyretry::app::add_errors_command(app);
  easyretry::app::add_events_command(app);
  easyretry::app::add_handlers_command(app);
  easyretry::app::add_health_command(app);
  easyretry::app::add_history_command(app);
  easyretry::app::add_manual_command(app);
  easyretry::app::add_mxrmq_command(app);
  easyretry::app::add_migrate_command(app);
  easyretry::app::add_namespaces_command(app);
  easyretry::app::add_reshard_command(app);
  easyretry::app::add_series_command(app);
  easyretry::app::add_serve_command(app);
  easyretry::app::add_split_command(app);
  easyretry::app::add_tables_command(app);
  easyretry::app::add_tasks_command(app);
  easyretry::app::add_token_command(app);
  easyretry::app::add_version_command(app);
  easyretry::app::add_whoami_command(app);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    if (!is_an_error(e) && !asks_about_nothing(app, e)) return app.exit(e);
    std::cerr << "easyretry: " << easyretry::app::explanation(app, e) << "\n";
    return kInvalidCommandLine;
  } catch (const std::exception& e) {
    std::cerr << "easyretry: " << easyretry::base::several_lines(e.what()) << "\n";
    return 1;
  }
  return 0;
}
