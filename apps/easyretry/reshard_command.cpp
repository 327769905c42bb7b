#include <memory>
#include <string>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "commands.h"
#include "printing/terminal.h"
#include "storage/open.h"

namespace easyretry::app {
namespace {

using storage::ReshardPlan;
using storage::ReshardProgress;

struct ReshardOptions {
  std::string store;
  std::string server;  // not supported
  int shards = 0;
  bool dry_run = false;
};

void print(const ReshardPlan& plan) {
  fmt::print("{} -> {} shards{}; {} of {} tasks in {} tables change their shard\n", plan.from, plan.to,
             plan.begun ? ", already begun" : "", plan.misnumbered, plan.rows, plan.tables);
}

void print_dry_run(const ReshardPlan& plan) {
  if (plan.leased > 0) fmt::print("{}: stop all instances first\n", printable(plan.running_tasks()));
  fmt::print("nothing was changed\n");
}

// A daemon is an instance, and no instance may run during resharding.
void require_store(const ReshardOptions& options) {
  if (!options.server.empty()) {
    throw std::invalid_argument(fmt::format(
        "the number of shards can only change while no instance runs, and the daemon at {} is one: stop all "
        "instances, then run `easyretry reshard --store URL --shards {}` with the url of their store",
        options.server, options.shards));
  }
  if (options.store.empty()) throw CLI::RequiredError("--store");
}

void run(const ReshardOptions& options) {
  require_store(options);
  const ReshardPlan plan = storage::reshard_store(options.store, {.shards = options.shards, .only_plan = true});
  if (plan.nothing_to_do()) {
    fmt::print("there are already {} shards; nothing was changed\n", plan.to);
    return;
  }
  print(plan);
  if (options.dry_run) return print_dry_run(plan);
  {
    const ProgressBar bar;
    storage::reshard_store(options.store, {.shards = options.shards, .progress = [&](const ReshardProgress& progress) {
                                             bar.show(progress.rows, plan.rows,
                                                      fmt::format("table {} of {}, {} of {} tasks", progress.table,
                                                                  plan.tables, progress.rows, plan.rows));
                                           }});
  }
  fmt::print("done; set shards={} in the urls of the instances before you start them again\n", options.shards);
}

}  // namespace

void add_reshard_command(CLI::App& app) {
  auto* command = app.add_subcommand("reshard", "Changes the number of shards of a store, while no instance runs");
  auto options = std::make_shared<ReshardOptions>();
  command->add_option("--store", options->store, "sqlite:, postgres:// or mysql://");
  command->add_option("--server", options->server, "Not supported: says what to do instead");
  command->add_option("--shards", options->shards, "The new number, 1 to 4096; a multiple of the tables of the layout")
      ->required();
  command->add_flag("--dry-run", options->dry_run, "Only show what would be changed");
  command->footer("Stop all instances first. Can be interrupted at any time; the same command continues.");
  command->callback([options] { run(*options); });
}

}  // namespace easyretry::app
