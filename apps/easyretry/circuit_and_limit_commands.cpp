// Circuits and limits: what they hold back, and the orders of operators to all instances.

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>
#include <nlohmann/json_fwd.hpp>

#include "base/duration_text.h"
#include "base/time_text.h"
#include "commands.h"
#include "printing/table.h"
#include "printing/terminal.h"
#include "printing/text.h"
#include "service/service.h"

namespace easyretry::app {
namespace {

// An order to all instances, as given by `circuits open` and `limits set`.
struct Order {
  ApiRequest request;
  std::string subject;  // "gateway", "handler payment.pay"
  std::string unknown;  // the message if the daemon does not know the name: "this instance has no handler payment.pay"
};

// Sends it to a daemon, and prints in one line what the answer means, or the answer itself as JSON.
void give_order(const ServiceOptions& options, bool as_json, const Order& order,
                const std::function<std::string(const nlohmann::json& answer)>& meaning) {
  const nlohmann::json answer = open_remote_service(daemon_of(options))->ask(order.request);
  if (as_json) return fmt::print("{}\n", json_text(answer));
  fmt::print("{} {}\n", printable(order.subject), meaning(answer));
  if (answer.value("known", false)) return;
  const std::string meant = answer.value("did_you_mean", "");
  fmt::print(stderr, "note: {}; {}\n", printable(order.unknown),
             meant.empty() ? "is the name right?" : fmt::format("did you mean {}?", printable(meant)));
}

// Shared by `easyretry circuits` and its subcommands.
struct CircuitsOptions {
  ServiceOptions service;
  bool as_json = false;
};

struct OrderOptions {
  std::string name;
  std::string time;  // as the user wrote it; empty: none
  std::string why;
};

// "open for 3 min", "closed", "held open: the gateway moves", "ignored until 2026-03-01T12:00:00.000Z"
Cell circuit_state_cell(const nlohmann::json& circuit) {
  if (circuit.contains("order")) {
    const nlohmann::json& order = circuit["order"];
    std::string text = order.value("state", "") == "open" ? "held open" : "ignored";
    if (order.contains("until")) text += " until " + order.value("until", "");
    if (const std::string why = order.value("why", ""); !why.empty()) text += ": " + why;
    return {text, Colour::yellow};
  }
  if (circuit.value("state", "") != "open") return {"closed"};
  const Millis age = system_clock().now() - base::parse_time(circuit.value("since", ""));
  return {"open for " + age_text(age), Colour::yellow};
}

// "12 answered, 30 failed"
std::string attempts_cell(const nlohmann::json& circuit) {
  return fmt::format("{} answered, {} failed", circuit.value("answered", std::uint64_t{0}),
                     circuit.value("failed", std::uint64_t{0}));
}

std::string starts_cell(const nlohmann::json& circuit) {
  if (!circuit.contains("starts_per_second")) return "";
  return fmt::format("{:.3g}/s", circuit.at("starts_per_second").get<double>());
}

// "at most 20 %", "at most 20 %, 17 held for 3 min"
Cell retries_cell(const nlohmann::json& circuit) {
  if (!circuit.contains("retries_at_most")) return {""};
  std::string text = fmt::format("at most {:.3g} %", 100 * circuit.at("retries_at_most").get<double>());
  if (!circuit.contains("retries_held_since")) return {text};
  const Millis age = system_clock().now() - base::parse_time(circuit.value("retries_held_since", ""));
  text += fmt::format(", {} held for {}", circuit.value("held_retries", std::uint64_t{0}), age_text(age));
  return {text, Colour::yellow};
}

void print_circuits(const nlohmann::json& circuits) {
  if (circuits.empty()) return fmt::print("no handler of this instance has a circuit\n");
  Table table{
      {{"circuit", true}, {"state"}, {"last attempts"}, {"starts", false, true}, {"retries"}, {"handlers", true}},
      stdout_terminal()};
  for (const nlohmann::json& circuit : circuits) {
    table.add({{circuit.value("name", "")},
               circuit_state_cell(circuit),
               {attempts_cell(circuit)},
               {starts_cell(circuit)},
               retries_cell(circuit),
               {fmt::format("{}", fmt::join(circuit.value("handlers", std::vector<std::string>{}), ", "))}});
  }
  table.print();
}

void change_circuit(const CircuitsOptions& options, const OrderOptions& order, const std::string& verb,
                    const nlohmann::json& body, const std::function<std::string(const nlohmann::json&)>& meaning) {
  const ApiRequest request{
      .method = Method::post, .path = {"circuits", order.name, verb}, .body = body.is_null() ? "" : body.dump()};
  give_order(options.service, options.as_json,
             {request, order.name, "no handler of this instance has the circuit " + order.name}, meaning);
}

CLI::App* add_change(CLI::App& circuits, CircuitsOptions& options, OrderOptions& order, const char* verb,
                     const char* about) {
  auto* command = circuits.add_subcommand(verb, about);
  command->add_option("name", order.name, "The name of the circuit")->required();
  command->add_flag("--json", options.as_json, "One JSON object, as returned by the API");
  add_daemon_options(*command, options.service);
  return command;
}

nlohmann::json body_of(const OrderOptions& order) {
  nlohmann::json body{{"why", order.why}};
  if (!order.time.empty()) body["for_ms"] = base::parse_duration(order.time).count();
  return body;
}

void add_open_command(CLI::App& circuits, CircuitsOptions& options) {
  auto order = std::make_shared<OrderOptions>();
  auto* command =
      add_change(circuits, options, *order, "open", "Holds a circuit open: nothing starts, not even probes");
  command->add_option("--for", order->time, "For how long, such as 2h; without it, until it is reset");
  command->add_option("--why", order->why, "The reason, shown to other operators");
  command->callback([&options, order] {
    change_circuit(options, *order, "open", body_of(*order), [&](const nlohmann::json& answer) {
      return fmt::format("is held open: within two seconds, no instance starts tasks of its handlers, until {}",
                         answer.at("order").value("until", "`easyretry circuits reset " + order->name + "`"));
    });
  });
}

void add_ignore_command(CLI::App& circuits, CircuitsOptions& options) {
  auto order = std::make_shared<OrderOptions>();
  order->time = "10m";
  auto* command =
      add_change(circuits, options, *order, "ignore", "Ignores a circuit for a while: nothing is held back");
  command->add_option("--for", order->time, "For how long, up to 24h")->capture_default_str();
  command->add_option("--why", order->why, "The reason, shown to other operators");
  command->callback([&options, order] {
    change_circuit(options, *order, "ignore", body_of(*order), [](const nlohmann::json& answer) {
      return fmt::format("is ignored until {}: its tasks start as if it were closed",
                         answer.at("order").value("until", ""));
    });
  });
}

void add_reset_command(CLI::App& circuits, CircuitsOptions& options) {
  auto order = std::make_shared<OrderOptions>();
  auto* command = add_change(circuits, options, *order, "reset", "Ends what `open` or `ignore` has said");
  command->callback([&options, order] {
    change_circuit(options, *order, "reset", nullptr, [](const nlohmann::json& answer) -> std::string {
      return answer.value("changed", false) ? "judges by itself again" : "was neither held open nor ignored";
    });
  });
}

void show(const CircuitsOptions& options) {
  const auto service = open_remote_service(daemon_of(options.service));
  const nlohmann::json answer = service->ask({.path = {"circuits"}});
  options.as_json ? fmt::print("{}\n", json_text(answer)) : print_circuits(answer.at("circuits"));
}

}  // namespace

void add_circuits_command(CLI::App& app) {
  auto* command = app.add_subcommand(
      "circuits",
      "Shows the circuits: whether tasks are held back because calls fail; holds them open, or ignores them");
  auto options = std::make_shared<CircuitsOptions>();
  command->add_flag("--json", options->as_json, "One JSON object, as returned by the API");
  add_daemon_options(*command, options->service);
  add_open_command(*command, *options);
  add_ignore_command(*command, *options);
  add_reset_command(*command, *options);
  command->require_subcommand(0, 1);
  command->callback([options, command] {
    if (command->get_subcommands().empty()) show(*options);
  });
}

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
