#include <memory>
#include <string>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "base/time_text.h"
#include "commands.h"
#include "printing/table.h"
#include "printing/terminal.h"
#include "printing/text.h"
#include "service/service.h"

namespace easyretry::app {
namespace {

struct LimitsOptions {
  ServiceOptions service;
  bool as_json = false;
};

// "3 of 5, 4 seats here", "3"
std::string running_cell(const nlohmann::json& limit) {
  const auto here = limit.value("running_here", std::uint64_t{0});
  if (!limit.contains("running")) return fmt::format("{}", here);
  return fmt::format("{} of {}, {} seats here", here, limit.at("running").get<int>(),
                     limit.value("seats_here", std::uint64_t{0}));
}

// "10/s, burst 20, 5/s here"
std::string rate_cell(const nlohmann::json& limit) {
  if (!limit.contains("per_second")) return "";
  return fmt::format("{:.3g}/s, burst {}, {:.3g}/s here", limit.at("per_second").get<double>(), limit.value("burst", 1),
                     limit.value("starts_per_second_here", 0.0));
}

Cell held_cell(const nlohmann::json& limit) {
  if (!limit.contains("holds_since")) return {""};
  const Millis age = system_clock().now() - base::parse_time(limit.value("holds_since", ""));
  return {fmt::format("{} for {}", limit.value("held_tasks", std::uint64_t{0}), age_text(age)), Colour::yellow};
}

void print_limits(const nlohmann::json& limits) {
  if (limits.empty()) return fmt::print("no handler of this instance has a limit\n");
  Table table{{{"limit", true}, {"running"}, {"starts"}, {"held tasks"}, {"handlers", true}}, stdout_terminal()};
  for (const nlohmann::json& limit : limits) {
    table.add({{limit.value("subject", "")},
               {running_cell(limit)},
               {rate_cell(limit)},
               held_cell(limit),
               {fmt::format("{}", fmt::join(limit.value("handlers", std::vector<std::string>{}), ", "))}});
  }
  table.print();
}

}  // namespace

void add_limits_command(CLI::App& app) {
  auto* command = app.add_subcommand("limits", "Shows the limits of handlers and circuits, and what they hold back");
  auto options = std::make_shared<LimitsOptions>();
  command->add_flag("--json", options->as_json, "One JSON object, as returned by the API");
  add_daemon_options(*command, options->service);
  command->callback([options] {
    const auto service = open_remote_service(daemon_of(options->service));
    const nlohmann::json answer = service->ask({.path = {"limits"}});
    options->as_json ? fmt::print("{}\n", json_text(answer)) : print_limits(answer.at("limits"));
  });
}

}  // namespace easyretry::app
