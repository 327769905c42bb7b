#include <memory>
#include <optional>
#include <string>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "commands.h"
#include "storage/open.h"

namespace easyretry::app {
namespace {

struct MigrateOptions {
  std::string store;
  std::optional<int> to;
  bool dry_run = false;
};

// SQL on standard output, so that it can be kept or piped; a comment line explains it.
void print_statements(const storage::MigrationPlan& plan) {
  fmt::print("-- from schema version {} to {}; nothing was changed\n", plan.from, plan.to);
  for (const std::string& statement : plan.statements) fmt::print("{};\n", statement);
}

void run(const MigrateOptions& options) {
  const auto plan =
      storage::migrate_store(options.store, system_clock(), {.to = options.to, .only_plan = options.dry_run});
  if (plan.from == plan.to) {
    fmt::print("the store has schema version {} already; nothing was changed\n", plan.to);
  } else if (options.dry_run) {
    print_statements(plan);
  } else {
    fmt::print("the store went from schema version {} to {}\n", plan.from, plan.to);
  }
}

}  // namespace

void add_migrate_command(CLI::App& app) {
  auto* command = app.add_subcommand("migrate", "Brings a store to the schema version that this release needs");
  auto options = std::make_shared<MigrateOptions>();
  command->add_option("--store", options->store, "sqlite:, postgres://, mysql:// or redis://")->required();
  command->add_option("--to", options->to, "A version on the way, instead of the newest");
  command->add_flag("--dry-run", options->dry_run, "Print the SQL and change nothing");
  command->footer(
      "Instances of the previous release may keep running meanwhile. Can be interrupted at any time; the same command "
      "continues.");
  command->callback([options] { run(*options); });
}

}  // namespace easyretry::app
