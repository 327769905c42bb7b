// The schema of a store, its number of shards and its tables.

#include <array>
#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "commands.h"
#include "printing/terminal.h"
#include "printing/text.h"
#include "service/service.h"
#include "storage/layout.h"
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

namespace {

using namespace std::chrono_literals;

constexpr int kSplitConflict = 409;

struct SplitOptions {
  ServiceOptions service;
  int to = 0;
  bool yes = false;
  bool dry_run = false;
  bool as_json = false;
};

nlohmann::json ask(Service& service, const SplitOptions& options, bool dry_run) {
  const nlohmann::json request{{"tables", options.to}, {"dry_run", dry_run}};
  return service.ask({.method = Method::post, .path = {"split"}, .body = request.dump()});
}

// After a split, the url may still contain the old layout, with which the store cannot be opened.
bool is_done_in_store(const SplitOptions& options) {
  if (options.service.store.empty()) return false;
  const auto there = storage::stored_settings(options.service.store);
  return there && there->layout == to_text(storage::Layout::hash(options.to));
}

void print_done_already(const SplitOptions& options) {
  if (options.as_json) {
    const nlohmann::json nothing{{"dry_run", true}, {"moves", nlohmann::json::array()}, {"tables", options.to}};
    return fmt::print("{}\n", json_text(nothing));
  }
  fmt::print("the layout is already hash({}); nothing was changed\n", options.to);
}

void print_plan(const nlohmann::json& plan) {
  for (const nlohmann::json& move : plan.at("moves")) {
    fmt::print("{} -> {}, about {} tasks\n", move.value("from", ""), move.value("to", ""),
               move.value("tasks", std::int64_t{0}));
  }
}

void confirm(const nlohmann::json& plan) {
  std::int64_t tasks = 0;
  for (const nlohmann::json& move : plan.at("moves")) tasks += move.value("tasks", std::int64_t{0});
  require_yes(fmt::format("move about {} tasks to {} new tables?", tasks, plan.at("moves").size()));
}

// If a split to the same number of tables is already running, started by another operator or by an interrupted command,
// returns that one.
nlohmann::json begin(Service& service, const SplitOptions& options) {
  try {
    return ask(service, options, /*dry_run=*/false);
  } catch (const ApiError& e) {
    if (e.status() != kSplitConflict) throw;
    nlohmann::json running = service.ask({.path = {"split"}});
    if (running.value("tables", 0) != options.to) throw;
    return running;
  }
}

nlohmann::json wait_for_split(Service& service, nlohmann::json split) {
  const ProgressBar bar;
  while (!split.contains("ended_at")) {
    std::this_thread::sleep_for(200ms);
    split = service.ask({.path = {"split"}});
    const auto moved = split.value("moved", std::int64_t{0});
    bar.show(moved, split.value("expected", std::int64_t{0}),
             fmt::format("table {} of {}, {} tasks moved", split.value("tables_begun", 0),
                         split.value("tables_to_fill", 0), moved));
  }
  return split;
}

void print_end(const SplitOptions& options, const nlohmann::json& split) {
  if (options.as_json) fmt::print("{}\n", json_text(split));
  if (split.value("state", "") != "done") {
    throw std::runtime_error(fmt::format("the split {} before it was done: {}; the same command continues it",
                                         split.value("state", ""), split.value("error", "")));
  }
  if (options.as_json) return;
  fmt::print("done; set layout=hash({}) in the urls of the instances before you start them again\n", options.to);
}

void run(const SplitOptions& options) {
  if (is_done_in_store(options)) return print_done_already(options);
  const auto service = open_service(options.service);
  const nlohmann::json plan = ask(*service, options, /*dry_run=*/true);
  if (plan.at("moves").empty()) return print_done_already(options);
  if (options.dry_run && options.as_json) return fmt::print("{}\n", json_text(plan));
  if (!options.as_json) print_plan(plan);
  if (options.dry_run) return fmt::print("nothing was changed\n");
  if (!options.yes) confirm(plan);
  print_end(options, wait_for_split(*service, begin(*service, options)));
}

}  // namespace

void add_split_command(CLI::App& app) {
  auto* command = app.add_subcommand("split", "Spreads layout=hash(n) over more tables, while instances run");
  auto options = std::make_shared<SplitOptions>();
  command->add_option("--to", options->to, "The new number of tables; a multiple of the current one")->required();
  command->add_flag("--yes", options->yes, "Do not ask for confirmation");
  command->add_flag("--dry-run", options->dry_run, "Only show what would be moved");
  command->add_flag("--json", options->as_json, R"(One JSON object: {"tables": …, "state": …}, or {"moves": […]})");
  add_service_options(*command, options->service);
  command->footer(
      "Can be interrupted at any time; the same command continues. A daemon continues on its own, and the same command "
      "shows its progress.");
  command->callback([options] { run(*options); });
}

namespace {

// The words for the states of the API.
std::string_view word_for(const std::string& state) {
  static const std::map<std::string, std::string_view> words{{"in_use", "in use"},
                                                             {"ahead", "created ahead"},
                                                             {"leaving", "to be emptied and dropped"},
                                                             {"history", "history"}};
  const auto found = words.find(state);
  return found == words.end() ? "" : found->second;
}

std::string size_text(std::int64_t bytes) {
  constexpr std::array kUnits{"B", "KiB", "MiB", "GiB", "TiB"};
  auto size = static_cast<double>(bytes);
  std::size_t unit = 0;
  for (; size >= 1024 && unit + 1 < kUnits.size(); ++unit) size /= 1024;
  return fmt::format("{:.{}f} {}", size, unit == 0 ? 0 : 1, kUnits[unit]);
}

std::string day_of(const nlohmann::json& table) {
  constexpr std::size_t kDay = 10;  // 2026-03-01
  return table.value("begins", "").substr(0, kDay);
}

void print_tables(const nlohmann::json& tables) {
  fmt::print("{:<36} {:>12} {:>10}  {:<10}  {}\n", "table", "rows about", "size", "begins", "state");
  for (const nlohmann::json& table : tables) {
    fmt::print("{:<36} {:>12} {:>10}  {:<10}  {}\n", printable(table.value("name", "")),
               table.value("rows", std::int64_t{0}), size_text(table.value("bytes", std::int64_t{0})), day_of(table),
               word_for(table.value("state", "")));
  }
}

struct TablesOptions {
  ServiceOptions service;
  bool as_json = false;
};

void run(const TablesOptions& options) {
  const nlohmann::json answer = open_service(options.service)->ask({.path = {"tables"}});
  if (options.as_json) return fmt::print("{}\n", json_text(answer));
  print_tables(answer.at("tables"));
}

}  // namespace

void add_tables_command(CLI::App& app) {
  auto* command = app.add_subcommand("tables", "Shows the tables of a database server: rows, size, age and state");
  auto options = std::make_shared<TablesOptions>();
  command->add_flag("--json", options->as_json, R"(One JSON object: {"tables": […]})");
  add_service_options(*command, options->service);
  command->callback([options] { run(*options); });
}

}  // namespace easyretry::app
