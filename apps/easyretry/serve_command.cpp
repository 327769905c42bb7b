#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/harmless.h"
#include "commands.h"
#include "server/daemon.h"
#include "service/service.h"

namespace easyretry::app {
namespace {

// Sends a state such as "READY=1" to systemd, for a service with Type=notify: one datagram to the socket in
// NOTIFY_SOCKET, where a leading '@' stands for the NUL of an abstract socket. Does nothing without that variable.
void notify_service_manager(std::string_view state) {
  const char* path = std::getenv("NOTIFY_SOCKET");
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path == nullptr || *path == '\0' || std::strlen(path) >= sizeof(address.sun_path)) return;
  const std::size_t length = std::strlen(path);
  std::memcpy(address.sun_path, path, length);
  if (address.sun_path[0] == '@') address.sun_path[0] = '\0';
  const int fd = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return;
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + length);
  ::sendto(fd, state.data(), state.size(), MSG_NOSIGNAL, reinterpret_cast<const sockaddr*>(&address), size);
  ::close(fd);
}

struct ServeOptions {
  std::string config;
  std::string store;
  std::string listen;
  bool first_steps = false;
};

Config config_of(const ServeOptions& options) {
  Environment flags;
  if (!options.store.empty()) flags["EASYRETRY_STORE"] = options.store;
  if (!options.listen.empty()) flags["EASYRETRY_SERVER_LISTEN"] = options.listen;
  return find_config(options.config, flags);
}

// Called before any thread starts, so that no thread receives a signal.
sigset_t block_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGHUP);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  return signals;
}

void print_first_steps(const std::string& address, const std::string& first_token) {
  const std::string file = std::filesystem::absolute(first_token).string();
  const bool there = std::filesystem::exists(file);
  const std::string place = there ? "in " + file : "where you moved it from " + file;
  const std::string token = there ? "$(cat '" + file + "')" : "er_…";
  const std::string program = std::filesystem::read_symlink("/proc/self/exe").string();
  fmt::print(R"(
Your token is {1}. In another terminal:

  export EASYRETRY_TOKEN={2}
  curl -H "Authorization: Bearer $EASYRETRY_TOKEN" -d '{{"handler": "mail.send", "args": [{{"to": "ann"}}]}}' {0}/v1/tasks
  {3} tasks list --server {0}

Its tasks wait for a worker: examples/workers has some. Ctrl-C stops; nothing is lost.
)",
             address, place, token, program);
}

// If the new configuration is invalid, the current one stays in force.
void reload(server::Daemon& daemon, const ServeOptions& options) {
  try {
    for (const ConfigChange& change : daemon.reload(config_of(options))) {
      fmt::print("configuration, {}: {} -> {}{}\n", change.key, change.from, change.to,
                 change.live ? "" : " (needs a restart)");
    }
    fmt::print("the configuration was reloaded\n");
  } catch (const std::exception& e) {
    fmt::print(stderr, "easyretry: the configuration was not changed: {}\n", base::several_lines(e.what()));
  }
  std::fflush(stdout);
}

// Returns on SIGINT and SIGTERM; SIGHUP reloads the configuration.
void wait_for_signals(const sigset_t& signals, server::Daemon& daemon, const ServeOptions& options) {
  int signal = 0;
  while (sigwait(&signals, &signal) == 0 && signal == SIGHUP) {
    notify_service_manager("RELOADING=1");
    reload(daemon, options);
    notify_service_manager("READY=1");
  }
}

void run(const ServeOptions& options) {
  const sigset_t signals = block_signals();
  const Config config = config_of(options);
  server::Daemon daemon{config};
  if (const auto& file = daemon.first_token_file()) {
    fmt::print("The first token, which has full access, is in {}: move it to a safe place.\n", *file);
  }
  fmt::print("easyretry serves {}\n", daemon.address());
  if (options.first_steps) print_first_steps(daemon.address(), config.server.tokens + ".first");
  std::fflush(stdout);
  notify_service_manager("READY=1");

  wait_for_signals(signals, daemon, options);
  pthread_sigmask(SIG_UNBLOCK, &signals, nullptr);  // a second signal ends the process at once
  notify_service_manager("STOPPING=1");
  fmt::print("stopping: waiting for requests and tasks in flight\n");
  std::fflush(stdout);
  daemon.stop();
}

}  // namespace

void add_serve_command(CLI::App& app) {
  auto* command = app.add_subcommand("serve", "Runs the daemon: an HTTP API in front of a store, for any language");
  auto options = std::make_shared<ServeOptions>();
  command->add_option("--config", options->config, "Configuration file (default: easyretry.yaml, if it exists)");
  command->add_option("--store", options->store, "Overrides the configuration: sqlite:retry.db, postgres://…");
  command->add_option("--listen", options->listen, "Overrides the configuration: 127.0.0.1:7077");
  command->add_flag("--first-steps", options->first_steps, "Also prints what to try first");
  command->callback([options] { run(*options); });
}

}  // namespace easyretry::app
