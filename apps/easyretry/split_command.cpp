#include <chrono>
#include <memory>
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

}  // namespace easyretry::app
