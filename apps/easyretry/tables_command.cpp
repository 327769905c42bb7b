#include <array>
#include <map>
#include <memory>
#include <string>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "commands.h"
#include "printing/terminal.h"
#include "printing/text.h"
#include "service/service.h"

namespace easyretry::app {
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
