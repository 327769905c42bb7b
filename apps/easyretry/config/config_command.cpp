#include "config/config_command.h"

#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "config_file.h"

namespace easyretry::app {
namespace {

struct CheckOptions {
  std::string file;
  bool as_json = false;
};

struct Checked {
  std::string meaning;  // YAML
  std::vector<std::string> problems{};
};

Checked check(const std::string& file) {
  try {
    const Config config = find_config(file, {});
    validate(config.engine);
    read_keys(config.encryption);
    return {to_yaml(config)};
  } catch (const ConfigError& e) {
    return {{}, e.problems()};
  } catch (const std::invalid_argument& e) {
    return {{}, {e.what()}};
  }
}

void run(const CheckOptions& options) {
  const Checked checked = check(options.file);
  if (options.as_json) {
    fmt::print("{}\n", nlohmann::json{{"problems", checked.problems}, {"yaml", checked.meaning}}.dump());
  } else {
    fmt::print("{}", checked.meaning);
    for (const std::string& problem : checked.problems) fmt::print(stderr, "{}\n", problem);
  }
  if (!checked.problems.empty()) throw std::runtime_error("the configuration would not be taken");
}

}  // namespace

void add_config_command(CLI::App& app) {
  auto* command = app.add_subcommand("config", "Looks at the configuration");
  command->require_subcommand(1);
  auto* checking =
      command->add_subcommand("check", "Prints what it means, with the environment, or all that is wrong with it");
  auto options = std::make_shared<CheckOptions>();
  checking->add_option("file", options->file, "Without it easyretry.yaml, if it is there");
  checking->add_flag("--json", options->as_json, R"(One JSON object: {"problems": […], "yaml": "…"})");
  checking->callback([options] { run(*options); });
}

}  // namespace easyretry::app
