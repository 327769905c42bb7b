#include <memory>
#include <stdexcept>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "commands.h"
#include "remote/connection.h"
#include "service/service.h"

namespace easyretry::app {
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

}  // namespace easyretry::app
