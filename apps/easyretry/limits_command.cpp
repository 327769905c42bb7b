#include <functional>
#include <memory>
#include <optional>
#include <string>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "base/time_text.h"
#include "commands.h"
#include "order.h"
#include "printing/table.h"
#include "printing/terminal.h"
#include "printing/text.h"
#include "service/service.h"

namespace easyretry::app {
namespace {

// Shared by `easyretry limits` and its subcommands.
struct LimitsOptions {
  ServiceOptions service;
  bool as_json = false;
};

struct LimitChange {
  std::string kind;
  std::string name;
  std::optional<int> running;
  std::optional<double> per_second;
  std::optional<int> burst;
  std::string why;
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

// "set 5 min ago: the gateway is slow"
Cell order_cell(const nlohmann::json& limit) {
  if (!limit.contains("order")) return {""};
  const nlohmann::json& order = limit["order"];
  const Millis age = system_clock().now() - base::parse_time(order.value("since", ""));
  const std::string why = order.value("why", "");
  return {fmt::format("set {} ago{}", age_text(age), why.empty() ? "" : ": " + why), Colour::yellow};
}

void print_limits(const nlohmann::json& limits) {
  if (limits.empty()) return fmt::print("no handler of this instance has a limit\n");
  Table table{{{"limit", true}, {"running"}, {"starts"}, {"held tasks"}, {"at run time"}, {"handlers", true}},
              stdout_terminal()};
  for (const nlohmann::json& limit : limits) {
    table.add({{limit.value("subject", "")},
               {running_cell(limit)},
               {rate_cell(limit)},
               held_cell(limit),
               order_cell(limit),
               {fmt::format("{}", fmt::join(limit.value("handlers", std::vector<std::string>{}), ", "))}});
  }
  table.print();
}

void change_limit(const LimitsOptions& options, const LimitChange& change, const std::string& verb,
                  const nlohmann::json& body, const std::function<std::string(const nlohmann::json&)>& meaning) {
  const ApiRequest request{.method = Method::post,
                           .path = {"limits", change.kind, change.name, verb},
                           .body = body.is_null() ? "" : body.dump()};
  const std::string subject = change.kind + " " + change.name;
  give_order(options.service, options.as_json, {request, subject, "this instance has no " + subject}, meaning);
}

CLI::App* add_limit_change(CLI::App& limits, LimitsOptions& options, LimitChange& change, const char* verb,
                           const char* about) {
  auto* command = limits.add_subcommand(verb, about);
  command->add_option("kind", change.kind, "handler or circuit")
      ->required()
      ->check(CLI::IsMember({"handler", "circuit"}));
  command->add_option("name", change.name, "The name of the handler or circuit")->required();
  command->add_flag("--json", options.as_json, "One JSON object, as returned by the API");
  add_daemon_options(*command, options.service);
  return command;
}

nlohmann::json limit_body(const LimitChange& change) {
  nlohmann::json body{{"why", change.why}};
  if (change.running) body["running"] = *change.running;
  if (change.per_second) body["per_second"] = *change.per_second;
  if (change.burst) body["burst"] = *change.burst;
  return body;
}

void add_set_limit_command(CLI::App& limits, LimitsOptions& options) {
  auto change = std::make_shared<LimitChange>();
  auto* command = add_limit_change(limits, options, *change, "set", "Limits a handler or a circuit on all instances");
  command->add_option("--running", change->running, "Tasks at a time; 0: nothing starts");
  command->add_option("--per-second", change->per_second, "Starts per second");
  command->add_option("--burst", change->burst, "Starts that may come at once after a quiet time");
  command->add_option("--why", change->why, "The reason, shown to other operators");
  command->callback([&options, change] {
    change_limit(options, *change, "set", limit_body(*change), [&](const nlohmann::json&) {
      return fmt::format("is limited within two seconds on all instances, until `easyretry limits reset {} {}`",
                         change->kind, change->name);
    });
  });
}

void add_reset_limit_command(CLI::App& limits, LimitsOptions& options) {
  auto change = std::make_shared<LimitChange>();
  auto* command =
      add_limit_change(limits, options, *change, "reset", "Ends what `set` has said; what is configured stays");
  command->callback([&options, change] {
    change_limit(options, *change, "reset", nullptr, [](const nlohmann::json& answer) -> std::string {
      return answer.value("changed", false) ? "has only the limit that is configured, if any"
                                            : "had no limit that was set at run time";
    });
  });
}

void show_limits(const LimitsOptions& options) {
  const auto service = open_remote_service(daemon_of(options.service));
  const nlohmann::json answer = service->ask({.path = {"limits"}});
  options.as_json ? fmt::print("{}\n", json_text(answer)) : print_limits(answer.at("limits"));
}

}  // namespace

void add_limits_command(CLI::App& app) {
  auto* command =
      app.add_subcommand("limits", "Shows the limits of handlers and circuits, and what they hold back; sets them");
  auto options = std::make_shared<LimitsOptions>();
  command->add_flag("--json", options->as_json, "One JSON object, as returned by the API");
  add_daemon_options(*command, options->service);
  add_set_limit_command(*command, *options);
  add_reset_limit_command(*command, *options);
  command->require_subcommand(0, 1);
  command->callback([options, command] {
    if (command->get_subcommands().empty()) show_limits(*options);
  });
}

}  // namespace easyretry::app
