#include <functional>
#include <memory>
#include <string>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "base/duration_text.h"
#include "base/time_text.h"
#include "commands.h"
#include "order.h"
#include "printing/table.h"
#include "printing/terminal.h"
#include "printing/text.h"
#include "service/service.h"

namespace easyretry::app {
namespace {

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
Cell state_cell(const nlohmann::json& circuit) {
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

void print_circuits(const nlohmann::json& circuits) {
  if (circuits.empty()) return fmt::print("no handler of this instance has a circuit\n");
  Table table{{{"circuit", true}, {"state"}, {"last attempts"}, {"starts", false, true}, {"handlers", true}},
              stdout_terminal()};
  for (const nlohmann::json& circuit : circuits) {
    table.add({{circuit.value("name", "")},
               state_cell(circuit),
               {attempts_cell(circuit)},
               {starts_cell(circuit)},
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

}  // namespace easyretry::app
