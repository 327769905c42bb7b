#include "handlers/handlers_command.h"

#include <memory>
#include <string>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/time_text.h"
#include "handlers/handlers_options.h"
#include "handlers/pause_handler.h"
#include "printing/json_text.h"
#include "printing/relative_time.h"
#include "printing/table.h"

namespace easyretry::app {
namespace {

// "12 succeeded, 1 exhausted"
std::string endings(const nlohmann::json& ended) {
  std::string text;
  for (const auto& [outcome, number] : ended.items()) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", number.get<std::int64_t>(), outcome);
  }
  return text;
}

// Empty: nobody here could know.
Cell served_cell(const nlohmann::json& handler) {
  if (!handler.contains("served")) return {};
  return handler.value("served", false) ? Cell{"yes"} : Cell{"no", Colour::yellow};
}

// "3 h: gateway down"
Cell paused_cell(const nlohmann::json& handler) {
  if (!handler.contains("paused")) return {};
  const nlohmann::json& paused = handler["paused"];
  const std::string age = age_text(system_clock().now() - base::parse_time(paused.value("since", "")));
  const std::string why = paused.value("why", "");
  return {why.empty() ? age : age + ": " + why, Colour::yellow};
}

void print(const nlohmann::json& handlers) {
  if (handlers.empty()) return fmt::print("no handlers\n");
  Table table{{{"handler", true},
               {"live", false, true},
               {"stored", false, true},
               {"served"},
               {"paused", true},
               {"ended", true}},
              stdout_terminal()};
  for (const nlohmann::json& handler : handlers) {
    table.add({{handler.value("name", "")},
               {std::to_string(handler.value("live", std::int64_t{0}))},
               {std::to_string(handler.value("stored", std::int64_t{0}))},
               served_cell(handler),
               paused_cell(handler),
               {endings(handler.at("ended"))}});
  }
  table.print();
}

void run(const HandlersOptions& options) {
  const nlohmann::json answer = open_service(options.service)->ask({.path = {"handlers"}});
  options.as_json ? fmt::print("{}\n", json_text(answer)) : print(answer.at("handlers"));
}

}  // namespace

void add_handlers_command(CLI::App& app) {
  auto* command = app.add_subcommand(
      "handlers", "Shows the handlers with their live, stored and ended tasks; pauses and resumes them");
  auto options = std::make_shared<HandlersOptions>();
  command->add_flag("--json", options->as_json, "One JSON object, as returned by the API");
  add_service_options(*command, options->service);
  add_pause_command(*command, *options);
  add_resume_command(*command, *options);
  command->require_subcommand(0, 1);
  command->callback([options, command] {
    if (command->get_subcommands().empty()) run(*options);
  });
}

}  // namespace easyretry::app
