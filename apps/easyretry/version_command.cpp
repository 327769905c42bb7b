#include <memory>
#include <string>
#include <string_view>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "commands.h"

namespace easyretry::app {

extern const std::string_view kBuildInfo;  // made by cmake/build_info.cmake

namespace {

using Json = nlohmann::ordered_json;

std::string words(const Json& list) {
  std::string all;
  for (const Json& word : list) all += (all.empty() ? "" : " ") + word.get<std::string>();
  return all;
}

void print(const Json& info) {
  const bool known = info["commit"].is_string();
  fmt::print("easyretry {}, commit {}{}\n", info["version"].get<std::string>(),
             known ? info["commit"].get<std::string>() : "unknown", info["modified"].get<bool>() ? ", modified" : "");
  fmt::print("components: {}\n", words(info["components"]));
  if (!info["left_out"].empty()) fmt::print("left out: {}\n", words(info["left_out"]));
  for (const auto& [name, version] : info["libraries"].items()) {
    fmt::print("built with {} {}\n", name, version.get<std::string>());
  }
}

}  // namespace

void add_version_command(CLI::App& app) {
  auto* command = app.add_subcommand("version", "Shows the commit, the components and the libraries of this build");
  auto json = std::make_shared<bool>(false);
  command->add_flag("--json", *json, "As JSON, for programs");
  command->callback([json] {
    const Json info = Json::parse(kBuildInfo);
    if (*json) return fmt::print("{}\n", info.dump(2));
    print(info);
  });
}

}  // namespace easyretry::app
