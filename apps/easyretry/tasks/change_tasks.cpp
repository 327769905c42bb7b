#include "tasks/change_tasks.h"

#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "confirmation.h"
#include "printing/json_text.h"
#include "printing/terminal.h"
#include "service/service_options.h"
#include "tasks/change_many.h"

namespace easyretry::app {
namespace {

enum class For { live, waiting, ended };

struct Change {
  std::string verb;  // "cancel", as the API calls it
  std::string past;  // "cancelled"
  For which;
};

struct ChangeOptions {
  Change change;
  ServiceOptions service;
  std::vector<std::string> ids;
  Filters filters;  // instead of ids
  bool everything = false;
  bool yes = false;
  bool dry_run = false;
  bool as_json = false;
  bool untold = false;
};

constexpr int kNotFound = 404;
constexpr int kConflict = 409;

// What became of one task: {"id": …} with "cancelled", "retried", "requeued_as", or "error".
nlohmann::json changed(Service& service, const ChangeOptions& options, const std::string& id) {
  const Change& change = options.change;
  Ask ask{.method = Method::post, .path = {"tasks", id, change.verb}};
  if (options.untold) ask.query = {{"untold", "true"}};
  const nlohmann::json answer = service.ask(ask);
  if (answer.contains("id")) return {{"id", id}, {"requeued_as", answer["id"]}};
  return {{"id", id}, {change.past, true}};
}

// Why the change is not for a task in this state; empty: it is.
std::string why_not(For which, const std::string& state) {
  const bool ended = state == "finished";
  if (which == For::ended) return ended ? "" : "it has not ended";
  if (ended) return "it has already ended";
  return which == For::waiting && state == "running" ? "it is running" : "";
}

nlohmann::json would_be_changed(Service& service, const Change& change, const std::string& id) {
  const nlohmann::json task = service.ask({.path = {"tasks", id}});
  std::string error = why_not(change.which, task.value("state", ""));
  if (error.empty() && task.contains("requeued_as")) {
    error = fmt::format("task {} was already requeued as {}", id, task.value("requeued_as", ""));
  }
  if (error.empty()) return {{"id", id}, {"would_be_" + change.past, true}};
  return {{"id", id}, {"error", error}};
}

// One task that is not as expected does not keep the others from their change; all else would be so of each of them.
nlohmann::json attempted(Service& service, const ChangeOptions& options, const std::string& id) {
  try {
    return options.dry_run ? would_be_changed(service, options.change, id) : changed(service, options, id);
  } catch (const Refused& e) {
    if (e.status() != kNotFound && e.status() != kConflict) throw;
    return {{"id", id}, {"error", e.what()}};
  }
}

void print(const Change& change, const nlohmann::json& one) {
  const std::string id = printable(one.value("id", ""));
  if (one.contains("error")) {
    fmt::print(stderr, "{}: not {}: {}\n", id, change.past, one.value("error", ""));
  } else if (one.contains("requeued_as")) {
    fmt::print("{} requeued as {}\n", id, one.value("requeued_as", ""));
  } else {
    fmt::print("{} {}{}\n", id, one.contains(change.past) ? "" : "would be ", change.past);
  }
}

void confirm(const ChangeOptions& options) {
  if (options.ids.size() < 2 || options.yes || options.dry_run) return;
  require_yes(fmt::format("{} {} tasks?", options.change.verb, options.ids.size()));
}

void run_many(const ChangeOptions& options) {
  if (!restricts(options.filters) && !options.everything) {
    throw std::invalid_argument("select tasks by id, by options such as --handler, or all of them with --everything");
  }
  const auto service = open_service(options.service);
  change_many(*service, {.verb = options.change.verb,
                         .past = options.change.past,
                         .filters = options.filters,
                         .yes = options.yes,
                         .dry_run = options.dry_run,
                         .as_json = options.as_json,
                         .untold = options.untold});
}

void run(const ChangeOptions& options) {
  if (options.ids.empty()) return run_many(options);
  confirm(options);
  const auto service = open_service(options.service);
  nlohmann::json all = nlohmann::json::array();
  std::size_t failed = 0;
  for (const std::string& id : options.ids) {
    all.push_back(attempted(*service, options, id));
    if (all.back().contains("error")) ++failed;
    if (!options.as_json) print(options.change, all.back());
  }
  if (options.as_json) fmt::print("{}\n", json_text({{"tasks", all}}));
  if (failed > 0) {
    throw std::runtime_error(fmt::format("{} of {} could not be {}", failed, options.ids.size(), options.change.past));
  }
}

void add_change_command(CLI::App& tasks, Change change, const char* about) {
  auto* command = tasks.add_subcommand(change.verb, about);
  auto options = std::make_shared<ChangeOptions>();
  options->change = std::move(change);
  auto* ids = command->add_option("ids", options->ids, "Task ids; or select tasks with the options");
  const Listed which = options->change.which == For::ended ? Listed::ended : Listed::live;
  std::vector<CLI::Option*> conditions = add_filters(*command, which, options->filters);
  auto* everything = command->add_flag("--everything", options->everything, "All tasks of the namespace");
  for (CLI::Option* condition : conditions) everything->excludes(condition);
  conditions.push_back(everything);
  for (CLI::Option* condition : conditions) condition->excludes(ids);
  command->add_flag("--yes", options->yes, "Do not ask before changing several tasks");
  command->add_flag("--dry-run", options->dry_run, "Only show what would be done");
  command->add_flag("--json", options->as_json, R"(One JSON object: {"tasks": [{"id": …}]}, or the bulk job)");
  if (options->change.verb == "cancel") {
    command->add_flag("--untold", options->untold,
                      "Without notifying their owners: also ends tasks whose handler no instance has");
  }
  add_service_options(*command, options->service);
  command->callback([options] { run(*options); });
}

}  // namespace

void add_retry_command(CLI::App& tasks) {
  add_change_command(tasks, {"retry", "retried", For::waiting}, "Makes tasks that wait for their next attempt due now");
}

void add_cancel_command(CLI::App& tasks) {
  add_change_command(tasks, {"cancel", "cancelled", For::live}, "Ends tasks: they will not run (again)");
}

void add_requeue_command(CLI::App& tasks) {
  add_change_command(tasks, {"requeue", "requeued", For::ended}, "Starts ended tasks again, as new tasks");
}

}  // namespace easyretry::app
