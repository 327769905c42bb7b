// What runs here and at the other end: the version of this program, whether a daemon is ready, and what its token may
// do.

#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "commands.h"
#include "printing/terminal.h"
#include "printing/text.h"
#include "remote/connection.h"
#include "service/service.h"

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

namespace {

constexpr Millis kWithin{5'000};  // shorter than the usual timeout of a health check, so that its log has the reason

struct HealthOptions {
  std::string server = ServiceOptions{}.server;
  std::string ca_file;
};

// Sends no token: the configuration of a health check is readable by others.
void run(const HealthOptions& options) {
  const remote::DaemonAddress daemon =
      checked_option({options.server, /*token=*/"", /*name_space=*/"", options.ca_file});
  const auto reply = remote::Connection{daemon}.ask({.target = "/readyz", .within = kWithin});
  if (!reply) throw std::runtime_error(no_answer_text(daemon, reply.error()));
  try {
    answer_of(daemon, reply->status, reply->body);
  } catch (const ApiError& e) {
    throw std::runtime_error(fmt::format("the daemon at {} is not ready: {}", daemon.url, e.what()));
  }
  fmt::print("{} is ready\n", daemon.url);
}

}  // namespace

void add_health_command(CLI::App& app) {
  auto* command = app.add_subcommand(
      "health", "Says whether a daemon serves requests and reaches its store; needs no token, for health checks");
  auto options = std::make_shared<HealthOptions>();
  command->add_option("--server", options->server, "The daemon")->capture_default_str();
  command->add_option("--ca-file", options->ca_file, "Certificate authority for the daemon's certificate, in PEM");
  command->callback([options] { run(*options); });
}

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
