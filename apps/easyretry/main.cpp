// easyretry: one program, one file per command.

#include <clocale>
#include <exception>
#include <iostream>
#include <string>

#include <CLI/CLI.hpp>

#include "base/harmless.h"
#include "commands.h"

namespace {

// CLI11 alone would only say that a command is required.
int unknown_command(const CLI::App& app, const std::string& name) {
  std::cerr << "easyretry: unknown command \"" << easyretry::base::one_line(name) << "\"; the commands are:";
  for (const CLI::App* command : app.get_subcommands({})) std::cerr << " " << command->get_name();
  std::cerr << "\n";
  return 2;
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
  easyretry::app::add_cluster_command(app);
  easyretry::app::add_completion_command(app);
  easyretry::app::add_config_command(app);
  easyretry::app::add_doctor_command(app);
  easyretry::app::add_events_command(app);
  easyretry::app::add_handlers_command(app);
  easyretry::app::add_history_command(app);
  easyretry::app::add_manual_command(app);
  easyretry::app::add_mxrmq_command(app);
  easyretry::app::add_migrate_command(app);
  easyretry::app::add_reshard_command(app);
  easyretry::app::add_serve_command(app);
  easyretry::app::add_split_command(app);
  easyretry::app::add_tables_command(app);
  easyretry::app::add_tasks_command(app);
  easyretry::app::add_token_command(app);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    if (argc > 1 && argv[1][0] != '-' && app.get_subcommands().empty()) return unknown_command(app, argv[1]);
    return app.exit(e);
  } catch (const std::exception& e) {
    std::cerr << "easyretry: " << easyretry::base::several_lines(e.what()) << "\n";
    return 1;
  }
  return 0;
}
