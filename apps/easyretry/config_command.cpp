#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "commands.h"
#include "printing/text.h"
#include "server/daemon_config.h"
#include "service/service.h"

namespace easyretry::app {
namespace {

constexpr const char* kNotChecked =
    "whether the store can be opened and was created with the same settings, whether the listen address is free, and "
    "whether registries, webhooks and alert channels answer";

struct CheckOptions {
  std::string file;
  bool of_application = false;
  bool as_json = false;
};

struct CheckResult {
  std::string meaning;  // YAML
  std::vector<std::string> problems{};
};

CheckResult check(const CheckOptions& options) {
  try {
    const Config config = find_config(options.file, {});
    auto problems = options.of_application ? server::objections_to_engine(config) : server::objections_to_start(config);
    return {problems.empty() ? to_yaml(config) : "", std::move(problems)};
  } catch (const ConfigError& e) {
    return {{}, e.problems()};
  }
}

void print(const CheckResult& checked) {
  fmt::print("{}", checked.meaning);
  std::fflush(stdout);
  for (const std::string& problem : checked.problems) fmt::print(stderr, "{}\n", problem);
  fmt::print(stderr, "not checked: {}\n", kNotChecked);
}

void run(const CheckOptions& options) {
  const CheckResult checked = check(options);
  if (options.as_json) {
    const nlohmann::json answer{
        {"problems", checked.problems}, {"yaml", checked.meaning}, {"not_checked", kNotChecked}};
    fmt::print("{}\n", json_text(answer));
  } else {
    print(checked);
  }
  if (!checked.problems.empty()) throw std::runtime_error("the configuration is not valid");
}

}  // namespace

void add_config_command(CLI::App& app) {
  auto* command = app.add_subcommand("config", "Checks the configuration");
  command->require_subcommand(1);
  auto* subcommand = command->add_subcommand(
      "check",
      "Prints the effective configuration, environment included, or every error for which `serve` would reject it");
  auto options = std::make_shared<CheckOptions>();
  subcommand->add_option("file", options->file, "Configuration file (default: easyretry.yaml, if it exists)");
  subcommand->add_flag("--application", options->of_application,
                       "Check it for an engine inside an application, without what only `serve` uses");
  subcommand->add_flag("--json", options->as_json,
                       R"(One JSON object: {"problems": […], "yaml": "…", "not_checked": "…"})");
  subcommand->callback([options] { run(*options); });
}

}  // namespace easyretry::app
