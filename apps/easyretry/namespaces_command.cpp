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

struct NamespacesOptions {
  ServiceOptions service;
  bool as_json = false;
};

void show_namespaces(const NamespacesOptions& options) {
  const nlohmann::json answer = open_remote_service(daemon_of(options.service))->ask({.path = {"namespaces"}});
  if (options.as_json) return fmt::print("{}\n", json_text(answer));
  for (const nlohmann::json& name : answer.at("namespaces")) fmt::print("{}\n", printable(name.get<std::string>()));
}

}  // namespace

void add_namespaces_command(CLI::App& app) {
  auto* command = app.add_subcommand("namespaces", "Lists the namespaces of a daemon that the token may use");
  auto options = std::make_shared<NamespacesOptions>();
  command->add_flag("--json", options->as_json, "One JSON object, as returned by the API");
  add_daemon_options(*command, options->service);
  command->callback([options] { show_namespaces(*options); });
}

}  // namespace easyretry::app
