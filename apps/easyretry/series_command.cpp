#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/duration_text.h"
#include "base/time_text.h"
#include "command_line.h"
#include "commands.h"
#include "printing/table.h"
#include "printing/text.h"
#include "service/service.h"

namespace easyretry::app {
namespace {

struct SeriesOptions {
  ServiceOptions service;
  std::string handler;
  std::string step = "1m";
  std::size_t last = 30;
  bool as_json = false;
};

// The names of the API, in the order of the columns.
constexpr std::array kLines{"stored",  "succeeded",   "failed_attempts", "ended_badly",
                            "backlog", "late_p50_ms", "late_p99_ms"};

std::string value_text(const std::string& line, const nlohmann::json& value) {
  if (value.is_null()) return "";  // nothing was measured
  const auto number = value.get<std::int64_t>();
  return line.ends_with("_ms") ? base::to_text(Millis{number}) : std::to_string(number);
}

std::vector<Column> columns_of_series() {
  std::vector<Column> columns{{"from"}};
  for (const char* title :
       {"stored", "succeeded", "failed attempts", "ended badly", "backlog", "late p50", "late p99"}) {
    columns.push_back({title, false, true});
  }
  return columns;
}

void print_series(const nlohmann::json& answer, std::size_t last) {
  const nlohmann::json& lines = answer.at("series");
  const std::size_t steps = lines.at(kLines.front()).size();
  if (steps == 0) return fmt::print("nothing was measured yet\n");
  const TimePoint from = base::parse_time(answer.at("from").get<std::string>());
  const Millis step{answer.at("step_ms").get<std::int64_t>()};
  Table table{columns_of_series(), stdout_terminal()};
  for (std::size_t i = steps - std::min(last, steps); i < steps; ++i) {
    std::vector<Cell> row{{base::to_text(from + static_cast<std::int64_t>(i) * step)}};
    for (const char* line : kLines) row.push_back({value_text(line, lines.at(line).at(i))});
    table.add(std::move(row));
  }
  table.print();
}

void show_series(const SeriesOptions& options) {
  ApiRequest request{.path = {"series"}, .query = {{"step", options.step}}};
  if (!options.handler.empty()) request.query["handler"] = options.handler;
  const nlohmann::json answer = open_remote_service(daemon_of(options.service))->ask(request);
  options.as_json ? fmt::print("{}\n", json_text(answer)) : print_series(answer, options.last);
}

}  // namespace

void add_series_command(CLI::App& app) {
  auto* command = app.add_subcommand("series", "Shows what a daemon counted in the last hour or day, step by step");
  auto options = std::make_shared<SeriesOptions>();
  command->add_option("--handler", options->handler, "The name of the handler; without it, all of them");
  one_of(command->add_option("--step", options->step, "Ten seconds for an hour, or a minute for a day"), {"10s", "1m"})
      ->capture_default_str();
  auto* last = command->add_option("--last", options->last, "Only so many steps, the latest ones")
                   ->check([](const std::string& text) { return not_a_whole_number(text, 1, 1440); })
                   ->capture_default_str();
  auto* json = command->add_flag("--json", options->as_json, "One JSON object, as returned by the API, with all steps");
  last->excludes(json);
  add_daemon_options(*command, options->service);
  command->callback([options] { show_series(*options); });
}

}  // namespace easyretry::app
