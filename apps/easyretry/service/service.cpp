#include "service/service.h"

#include <cstdlib>
#include <filesystem>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/harmless.h"
#include "remote/connection.h"

namespace easyretry::app {
namespace {

std::string percent_encoded(const std::string& text) {
  std::string encoded;
  for (const char c : text) {
    const bool plain =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
    encoded += plain ? std::string{c} : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return encoded;
}

// The hints of the API are written for HTTP; these are written for this program.
std::string hint_here(const std::string& code, const std::string& hint) {
  if (code == "unauthorized") {
    return "put the token in EASYRETRY_TOKEN, or give its file with --token-file; `easyretry token create` creates one";
  }
  if (code == "forbidden_namespace") return "leave out --namespace, or use a token for that namespace";
  if (code == "wrong_order")
    return "add or leave out --oldest-first, as in the command that gave it, or leave out --after";
  if (code == "duplicate_key") return "the existing task is not affected; leave out --on-duplicate to get its id";
  return hint;
}

std::string text_of(const nlohmann::json& error) {
  const std::string hint = hint_here(error.value("code", ""), error.value("hint", ""));
  return base::one_line(error.value("message", "") + (hint.empty() ? "" : "; " + hint));
}

constexpr const char* kServices = "Where";

std::string token_of(const ServiceOptions& options) {
  if (options.token_file.empty()) {
    const char* token = std::getenv("EASYRETRY_TOKEN");
    return token == nullptr ? "" : token;
  }
  return remote::read_token(options.token_file);
}

constexpr const char* kUsualConfig = "easyretry.yaml";

// "EASYRETRY_SERVER_LISTEN: …" becomes "--listen: …".
std::string in_terms_of_options(std::string problem, const std::vector<Override>& overrides) {
  for (const Override& one : overrides) {
    if (problem.starts_with(one.variable + ":")) return one.option + problem.substr(one.variable.size());
  }
  return problem;
}

void apply(Config& config, const std::vector<Override>& overrides) {
  Environment variables;
  for (const Override& one : overrides) {
    if (!one.value.empty()) variables[one.variable] = one.value;
  }
  try {
    apply_environment(config, variables);
  } catch (const ConfigError& e) {
    std::vector<std::string> problems;
    for (const std::string& problem : e.problems()) problems.push_back(in_terms_of_options(problem, overrides));
    throw ConfigError{std::move(problems)};
  }
}

}  // namespace

std::string target_of(const ApiRequest& request) {
  std::string target = "/v1";
  for (const std::string& segment : request.path) target += "/" + percent_encoded(segment);
  char before = '?';
  for (const auto& [name, value] : request.query) {
    target += before + percent_encoded(name) + "=" + percent_encoded(value);
    before = '&';
  }
  return target;
}

ApiError::ApiError(int status, const nlohmann::json& body)
    : std::runtime_error(text_of(body.at("error"))), status_(status) {}

void add_daemon_options(CLI::App& command, ServiceOptions& options) {
  auto* server = command.add_option("--server", options.server, "The daemon")->capture_default_str();
  auto* token = command.add_option("--token-file", options.token_file,
                                   "File that begins with the token (default: the token in EASYRETRY_TOKEN)");
  auto* ca =
      command.add_option("--ca-file", options.ca_file, "Certificate authority for the daemon's certificate, in PEM");
  auto* name_space = command.add_option("--namespace", options.name_space, "The namespace, if not the default one");
  for (CLI::Option* option : {server, token, ca, name_space}) option->group(kServices);
}

void add_service_options(CLI::App& command, ServiceOptions& options) {
  add_daemon_options(command, options);
  auto* store = command.add_option("--store", options.store,
                                   "Open this store instead of asking a daemon; use the same options as the instances");
  auto* config = command.add_option(
      "--config", options.config, "With --store: the instances' configuration (default: easyretry.yaml, if it exists)");
  for (const char* of_daemon : {"--server", "--token-file", "--ca-file"})
    store->excludes(command.get_option(of_daemon));
  config->needs(store);
  for (CLI::Option* option : {store, config}) option->group(kServices);
}

Config config_of(const ServiceOptions& options) {
  return find_config(options.config, {{"--store", "EASYRETRY_STORE", options.store},
                                      {"--namespace", "EASYRETRY_NAMESPACE", options.name_space}});
}

remote::DaemonAddress daemon_of(const ServiceOptions& options) {
  return checked_option({options.server, token_of(options), options.name_space, options.ca_file});
}

std::unique_ptr<Service> open_service(const ServiceOptions& options) {
  if (!options.store.empty()) return open_local_service(config_of(options));
  return open_remote_service(daemon_of(options));
}

Config find_config(const std::string& file, const std::vector<Override>& overrides) {
  Config config;
  if (!file.empty() || std::filesystem::exists(kUsualConfig)) {
    config = load_config(file.empty() ? kUsualConfig : file);
  } else {
    apply_environment(config, easyretry_environment());
  }
  apply(config, overrides);
  return config;
}

}  // namespace easyretry::app
