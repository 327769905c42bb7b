#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "commands.h"
#include "printing/field_printer.h"
#include "printing/text.h"
#include "service/service.h"

namespace easyretry::app {
namespace {

struct WhoamiOptions {
  ServiceOptions service;
  bool as_json = false;
};

std::string list_text(const nlohmann::json& names) {
  return fmt::format("{}", fmt::join(names.get<std::vector<std::string>>(), ", "));
}

std::string namespaces_text(const nlohmann::json& namespaces) {
  return namespaces.is_array() ? list_text(namespaces) : "all";
}

void print_token(const nlohmann::json& answer) {
  const FieldPrinter out;
  out.line("token", answer.value("name", ""));
  out.line("role", answer.value("role", ""));
  out.line("rights", list_text(answer.at("rights")));
  out.line("namespaces", namespaces_text(answer.at("namespaces")));
  out.line("version", answer.value("version", ""));
  out.line("store", answer.value("store", ""));
  out.line("durability", answer.value("durability", ""));
  out.line("features", list_text(answer.at("features")));
}

void show_token(const WhoamiOptions& options) {
  const nlohmann::json answer = open_remote_service(daemon_of(options.service))->ask({.path = {"whoami"}});
  options.as_json ? fmt::print("{}\n", json_text(answer)) : print_token(answer);
}

}  // namespace

void add_whoami_command(CLI::App& app) {
  auto* command = app.add_subcommand("whoami", "Shows what the token may do, and which daemon it is sent to");
  auto options = std::make_shared<WhoamiOptions>();
  command->add_flag("--json", options->as_json, "One JSON object, as returned by the API");
  add_daemon_options(*command, options->service);
  command->callback([options] { show_token(*options); });
}

}  // namespace easyretry::app
