#include <csignal>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "command_line.h"
#include "commands.h"
#include "server/daemon.h"
#include "server/daemon_config.h"
#include "service/service.h"
#include "service_manager.h"

namespace easyretry::app {
namespace {

struct ServeOptions {
  std::string config;
  std::string store;
  std::string listen;
  std::string log_level;
  std::string log_format;
  bool allow_plain_http = false;
  bool first_steps = false;
  std::optional<PassedSocket> passed{};  // if given, the daemon listens on it
};

constexpr const char* kListenVariable = "EASYRETRY_SERVER_LISTEN";

// For CLI::Option::check: the error that the configuration would give.
std::string not_an_address(const std::string& text) {
  Config unused;
  try {
    apply_environment(unused, {{kListenVariable, text}});
    return "";
  } catch (const ConfigError& e) {
    const std::string& problem = e.problems().front();
    const std::string before = std::string{kListenVariable} + ": ";
    return problem.starts_with(before) ? problem.substr(before.size()) : problem;
  }
}

std::vector<Override> flags_of(const ServeOptions& options) {
  return {{"--store", "EASYRETRY_STORE", options.store},
          {"--listen", kListenVariable, options.passed ? options.passed->address : options.listen},
          {"--log-level", "EASYRETRY_LOG_LEVEL", options.log_level},
          {"--log-format", "EASYRETRY_LOG_FORMAT", options.log_format},
          {"--allow-plain-http", "EASYRETRY_SERVER_ALLOW_PLAIN_HTTP", options.allow_plain_http ? "true" : ""}};
}

Config config_of(const ServeOptions& options) {
  Config config = find_config(options.config, flags_of(options));
  config.engine.log =
      stderr_log({config.log.level.value_or(LogLevel::info), config.log.format.value_or(LogFormat::text)});
  return config;
}

// Progress for people goes to stdout. If the log is for machines, there is only one stream of events, the log.
void say(const Config& config, const std::string& text) {
  if (config.log.format == LogFormat::json) return config.engine.log(LogLevel::info, text);
  fmt::print("{}\n", text);
  std::fflush(stdout);
}

// A file is read again on SIGHUP. Nacos reports changes itself.
void follow_nacos(server::Daemon& daemon, const ServeOptions& options) {
  if (!options.config.starts_with("nacos://")) return;
  Environment environment = easyretry_environment();
  for (const Override& flag : flags_of(options)) {
    if (!flag.value.empty()) environment[flag.variable] = flag.value;
  }
  daemon.follow(options.config, std::move(environment));
}

// Called before any thread starts, so that no thread receives a signal. They have been blocked since the start of the
// process (service_manager.cpp), and by now one may be waiting.
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
void reload(server::Daemon& daemon, const Config& running, const ServeOptions& options) {
  try {
    for (const ConfigChange& change : daemon.reload(config_of(options))) {
      say(running, fmt::format("configuration, {}: {} -> {}{}", change.key, change.from, change.to,
                               change.live ? "" : " (needs a restart)"));
    }
    say(running, "the configuration was reloaded");
  } catch (const std::exception& e) {
    running.engine.log(LogLevel::error, std::string{"the configuration was not changed: "} + e.what());
  }
}

// The next signal, or 0 if none arrives within `most`.
int next_signal(const sigset_t& signals, const std::optional<Millis>& most) {
  int signal = 0;
  if (!most) return sigwait(&signals, &signal) == 0 ? signal : 0;
  const timespec within{.tv_sec = most->count() / 1000, .tv_nsec = most->count() % 1000 * 1'000'000};
  signal = sigtimedwait(&signals, nullptr, &within);
  return signal > 0 ? signal : 0;
}

// Returns on SIGINT and SIGTERM; SIGHUP reloads the configuration. Until then, the watchdog of the service manager
// hears from the daemon for as long as the daemon responds; a daemon that does not is killed and started again.
void wait_for_signals(const sigset_t& signals, server::Daemon& daemon, const Config& running,
                      const ServeOptions& options) {
  const std::optional<Millis> watched = watchdog_interval();
  for (;;) {
    const int signal = next_signal(signals, watched);
    if (signal == SIGINT || signal == SIGTERM) return;
    if (signal == SIGHUP) {
      notify_service_manager("RELOADING=1");
      reload(daemon, running, options);
      notify_service_manager("READY=1");
    }
    if (watched && daemon.responds(*watched)) notify_service_manager("WATCHDOG=1");
  }
}

// "server.listen is …" becomes "--listen is …" if that is where the address comes from.
std::string in_terms_of_options(const std::string& problem, const ServeOptions& options) {
  if (!problem.starts_with(server::kListenKey) || (options.listen.empty() && !options.passed)) return problem;
  return (options.passed ? "ListenStream= of the .socket unit" : "--listen") +
         problem.substr(server::kListenKey.size());
}

// Only the passed socket may say where to listen: with two addresses, one of them would silently not be served.
std::optional<PassedSocket> socket_for(const ServeOptions& options) {
  auto passed = passed_socket();
  if (passed && !options.listen.empty()) {
    throw std::runtime_error("a socket was passed (LISTEN_FDS), which listens on " + passed->address +
                             "; leave out --listen, or stop the .socket unit");
  }
  return passed;
}

std::unique_ptr<server::Daemon> started(const Config& config, const ServeOptions& options) {
  try {
    return std::make_unique<server::Daemon>(config, options.passed ? options.passed->descriptor : -1);
  } catch (const ConfigError& e) {
    std::vector<std::string> problems;
    for (const std::string& problem : e.problems()) problems.push_back(in_terms_of_options(problem, options));
    throw ConfigError{std::move(problems)};
  } catch (const std::exception& e) {
    throw std::runtime_error(in_terms_of_options(e.what(), options));
  }
}

void run(ServeOptions& options) {
  const sigset_t signals = block_signals();
  options.passed = socket_for(options);
  const Config config = config_of(options);
  const auto daemon = started(config, options);
  if (const auto warning = server::plain_http_warning(config.server)) {
    config.engine.log(LogLevel::warning, in_terms_of_options(*warning, options));
  }
  if (const auto& file = daemon->first_token_file()) {
    say(config, fmt::format("The first token, which has full access, is in {}: move it to a safe place.", *file));
  }
  say(config, "easyretry serves " + daemon->address());
  if (options.first_steps) print_first_steps(daemon->address(), config.server.tokens + ".first");
  std::fflush(stdout);
  follow_nacos(*daemon, options);
  notify_service_manager("READY=1");

  wait_for_signals(signals, *daemon, config, options);
  sigset_t second = signals;
  sigdelset(&second, SIGHUP);                      // it is too late to reload, and this is not a request to hurry
  pthread_sigmask(SIG_UNBLOCK, &second, nullptr);  // a second signal ends the process at once
  notify_service_manager("STOPPING=1");
  say(config, "stopping: waiting for requests and tasks in flight");
  daemon->stop();
}

}  // namespace

void add_serve_command(CLI::App& app) {
  auto* command = app.add_subcommand("serve", "Runs the daemon: an HTTP API in front of a store, for any language");
  auto options = std::make_shared<ServeOptions>();
  command->add_option(
      "--config", options->config,
      "Configuration file, or nacos://… to follow one in Nacos (default: easyretry.yaml, if it exists)");
  command->add_option("--store", options->store, "Overrides the configuration: sqlite:retry.db, postgres://…");
  command->add_option("--listen", options->listen, "Overrides the configuration: 127.0.0.1:7077")
      ->check(not_an_address);
  command->add_flag("--allow-plain-http", options->allow_plain_http,
                    "Also without TLS on an address that others can reach: only behind a proxy with TLS");
  one_of(command->add_option("--log-level", options->log_level, "What to log, on stderr (default: info)"),
         {"debug", "info", "warning", "error"});
  one_of(command->add_option("--log-format", options->log_format, "The form of a line (default: text)"),
         {"text", "json"});
  command->add_flag("--first-steps", options->first_steps, "Also prints what to try first");
  command->callback([options] { run(*options); });
}

}  // namespace easyretry::app
