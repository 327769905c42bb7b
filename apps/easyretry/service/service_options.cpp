#include "service/service_options.h"

#include <cstdlib>

#include <CLI/CLI.hpp>

#include "config_file.h"
#include "remote/connection.h"
#include "service/local_service.h"
#include "service/remote_service.h"

namespace easyretry::app {
namespace {

constexpr const char* kServices = "Where";

std::string token_of(const ServiceOptions& options) {
  if (options.token_file.empty()) {
    const char* token = std::getenv("EASYRETRY_TOKEN");
    return token == nullptr ? "" : token;
  }
  return remote::read_token(options.token_file);
}

}  // namespace

void add_daemon_options(CLI::App& command, ServiceOptions& options) {
  auto* server = command.add_option("--server", options.server, "The daemon")->capture_default_str();
  auto* token = command.add_option("--token-file", options.token_file,
                                   "File that begins with the token (default: the token in EASYRETRY_TOKEN)");
  auto* ca =
      command.add_option("--ca-file", options.ca_file, "Certificate authority for the daemon's certificate, in PEM");
  auto* space = command.add_option("--space", options.space, "The namespace, if not the default one");
  for (CLI::Option* option : {server, token, ca, space}) option->group(kServices);
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
  Environment flags{{"EASYRETRY_STORE", options.store}};
  if (!options.space.empty()) flags["EASYRETRY_SPACE"] = options.space;
  return find_config(options.config, flags);
}

remote::DaemonAddress daemon_of(const ServiceOptions& options) {
  return checked_option({options.server, token_of(options), options.space, options.ca_file});
}

std::unique_ptr<Service> open_service(const ServiceOptions& options) {
  if (!options.store.empty()) return open_local_service(config_of(options));
  return open_remote_service(daemon_of(options));
}

}  // namespace easyretry::app
