#pragma once

#include <memory>
#include <string>

#include <easyretry/config.h>

#include "remote/connection.h"
#include "service/service.h"

namespace CLI {
class App;
}

namespace easyretry::app {

// Which service a command is to talk to.
struct ServiceOptions {
  std::string server = "http://127.0.0.1:7077";
  std::string token_file;
  std::string ca_file;
  std::string store;  // given: straight on it
  std::string config;
  std::string space;
};

// `options` must live as long as the command.
void add_service_options(CLI::App& command, ServiceOptions& options);

// The same for a command that only a daemon can answer.
void add_daemon_options(CLI::App& command, ServiceOptions& options);
remote::DaemonAddress daemon_of(const ServiceOptions& options);

// The configuration that is found here, with what the options say over it.
Config config_of(const ServiceOptions& options);

std::unique_ptr<Service> open_service(const ServiceOptions& options);

}  // namespace easyretry::app
