#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "command_line.h"
#include "commands.h"
#include "printing/table.h"
#include "printing/terminal.h"
#include "printing/text.h"
#include "service/service.h"
#include "tasks/task_commands.h"

namespace easyretry::app {
namespace {

struct ErrorsOptions {
  ServiceOptions service;
  Filters filters;
  bool as_json = false;
};

void print_groups(const nlohmann::json& groups) {
  if (groups.empty()) return fmt::print("no failures\n");
  const TimePoint now = system_clock().now();
  Table table{
      {{"fingerprint"}, {"count", false, true}, {"first seen"}, {"last seen"}, {"handlers", true}, {"error", true}},
      stdout_terminal()};
  for (const nlohmann::json& group : groups) {
    table.add({{group.value("fingerprint", "")},
               {std::to_string(group.value("count", std::int64_t{0}))},
               {when(group, "first_seen", now)},
               {when(group, "last_seen", now)},
               {fmt::format("{}", fmt::join(group.value("handlers", std::vector<std::string>{}), ", "))},
               {group.value("text", "")}});
  }
  table.print();
}

void show_errors(const ErrorsOptions& options) {
  const auto service = open_service(options.service);
  const nlohmann::json answer = service->ask({.path = {"errors"}, .query = in_terms_of_the_api(options.filters)});
  if (options.as_json) return fmt::print("{}\n", json_text(answer));
  print_groups(answer.at("groups"));
  if (answer.value("complete", true)) return;
  fmt::print(stderr, "the newest {} failures were read, and there may be more: see --from and --handler\n",
             answer.value("scanned", std::int64_t{0}));
}

}  // namespace

void add_errors_command(CLI::App& app) {
  auto* command = app.add_subcommand(
      "errors", "Shows failures by kind; its fingerprints select tasks: tasks list --error, history list --error");
  auto options = std::make_shared<ErrorsOptions>();
  auto* of = add_filter(*command, "of", "Tasks that have ended (default), or live tasks whose latest attempt failed",
                        options->filters);
  one_of(of, {"history", "tasks"});
  add_filter(*command, "handler", "The name of the handler", options->filters);
  add_filter(*command, "from", "Failures from this time on: 2026-03-01, 2026-03-01T12:00:00Z, or 2h for two hours ago",
             options->filters);
  add_filter(*command, "limit", "Only so many kinds, the most frequent ones, up to 1000 (default: 100)",
             options->filters);
  command->add_flag("--json", options->as_json, "One JSON object, as returned by the API");
  add_service_options(*command, options->service);
  command->callback([options] { show_errors(*options); });
}

}  // namespace easyretry::app
