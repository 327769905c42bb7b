// Checks and tools for setting up a daemon: its configuration, tokens and alert channels.

#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "alert/channel.h"
#include "command_line.h"
#include "commands.h"
#include "printing/terminal.h"
#include "printing/text.h"
#include "server/daemon_config.h"
#include "server/tokens.h"
#include "service/service.h"

namespace easyretry::app {
namespace {

constexpr const char* kNotChecked =
    "whether the store can be opened and was created with the same settings, whether the listen address is free, and "
    "whether registries, webhooks and alert channels answer";

struct CheckOptions {
  std::string file;
  bool of_application = false;
  bool as_json = false;
};

struct CheckResult {
  std::string meaning;  // YAML
  std::vector<std::string> problems{};
};

CheckResult check(const CheckOptions& options) {
  try {
    const Config config = find_config(options.file, {});
    auto problems = options.of_application ? server::objections_to_engine(config) : server::objections_to_start(config);
    return {problems.empty() ? to_yaml(config) : "", std::move(problems)};
  } catch (const ConfigError& e) {
    return {{}, e.problems()};
  }
}

void print(const CheckResult& checked) {
  fmt::print("{}", checked.meaning);
  std::fflush(stdout);
  for (const std::string& problem : checked.problems) fmt::print(stderr, "{}\n", problem);
  fmt::print(stderr, "not checked: {}\n", kNotChecked);
}

void run(const CheckOptions& options) {
  const CheckResult checked = check(options);
  if (options.as_json) {
    const nlohmann::json answer{
        {"problems", checked.problems}, {"yaml", checked.meaning}, {"not_checked", kNotChecked}};
    fmt::print("{}\n", json_text(answer));
  } else {
    print(checked);
  }
  if (!checked.problems.empty()) throw std::runtime_error("the configuration is not valid");
}

}  // namespace

void add_config_command(CLI::App& app) {
  auto* command = app.add_subcommand("config", "Checks the configuration");
  command->require_subcommand(1);
  auto* subcommand = command->add_subcommand(
      "check",
      "Prints the effective configuration, environment included, or every error for which `serve` would reject it");
  auto options = std::make_shared<CheckOptions>();
  subcommand->add_option("file", options->file, "Configuration file (default: easyretry.yaml, if it exists)");
  subcommand->add_flag("--application", options->of_application,
                       "Check it for an engine inside an application, without what only `serve` uses");
  subcommand->add_flag("--json", options->as_json,
                       R"(One JSON object: {"problems": […], "yaml": "…", "not_checked": "…"})");
  subcommand->callback([options] { run(*options); });
}

namespace {

struct TokenOptions {
  std::string file = "easyretry.tokens";
  std::string name;
  std::string role = "viewer";
  std::string name_space = "default";
};

void create(const TokenOptions& options) {
  server::Tokens tokens{options.file};
  const std::string secret = server::new_secret();
  tokens.add({options.name, options.role, options.name_space, server::hash_of(secret)});
  fmt::print("{}\n", secret);
  fmt::print(stderr, "This is the only time it is shown: {} keeps a hash.\n", options.file);
}

void list(const TokenOptions& options) {
  fmt::print("{:<24} {:<20} {}\n", "name", "role", "namespace");
  for (const server::Token& token : server::Tokens{options.file}.all()) {
    fmt::print("{:<24} {:<20} {}\n", printable(token.name), token.role, printable(token.name_space));
  }
}

void revoke(const TokenOptions& options) {
  if (!server::Tokens{options.file}.remove(options.name)) {
    throw std::invalid_argument("there is no token named " + options.name + " in " + options.file);
  }
  fmt::print("{} was revoked\n", options.name);
}

}  // namespace

void add_token_command(CLI::App& app) {
  auto* command = app.add_subcommand("token", "Creates, lists and revokes the tokens of the API");
  command->require_subcommand(1);
  auto options = std::make_shared<TokenOptions>();
  command->add_option("--tokens", options->file, "File with the hashes of the tokens")->capture_default_str();

  auto* create_command = command->add_subcommand("create", "Prints a new token");
  create_command->add_option("name", options->name, "Who uses it")->required();
  auto* role = create_command->add_option("--role", options->role, "Its rights; +payloads may follow");
  one_of(role, {"viewer", "submitter", "worker", "application", "operator", "admin"}, "+payloads")
      ->capture_default_str();
  create_command->add_option("--namespace", options->name_space, "The namespace it is for, or * for all")
      ->capture_default_str();
  create_command->callback([options] { create(*options); });

  command->add_subcommand("list", "Lists the tokens")->callback([options] { list(*options); });

  auto* revoke_command = command->add_subcommand("revoke", "Revokes a token");
  revoke_command->add_option("name", options->name, "Whose")->required();
  revoke_command->callback([options] { revoke(*options); });
}

namespace {

struct TestOptions {
  std::string channel;
  std::string config;
};

const AlertChannel& channel_of(const Config& config, const std::string& name) {
  const auto found = config.alerts.channels.find(name);
  if (found != config.alerts.channels.end()) return found->second;
  std::string known;
  for (const auto& [one, channel] : config.alerts.channels) known += " " + one;
  throw std::invalid_argument("unknown channel " + name + "; alerts.channels has:" + (known.empty() ? " none" : known));
}

void test(const TestOptions& options) {
  const Config config = find_config(options.config, {});
  webhook::Caller caller{{.guard = webhook::Guard{config.server.may_call}}};
  const auto channel = alert::open_channel(channel_of(config, options.channel), caller);
  const alert::SendResult result = channel->send({.test = true}, alert::new_message_id(), {});
  if (!result.arrived)
    throw std::runtime_error("channel " + options.channel + " did not accept the message: " + result.why);
  fmt::print("channel {} accepted the test message\n", options.channel);
}

}  // namespace

void add_alert_command(CLI::App& app) {
  auto* command = app.add_subcommand("alert", "Tests alert channels");
  command->require_subcommand(1);
  auto options = std::make_shared<TestOptions>();
  auto* subcommand =
      command->add_subcommand("test", "Sends a test message to a channel and reports whether it arrived");
  subcommand->add_option("channel", options->channel, "The name of the channel in alerts.channels")->required();
  subcommand->add_option("--config", options->config, "Configuration file (default: easyretry.yaml, if it exists)");
  subcommand->callback([options] { test(*options); });
}

}  // namespace easyretry::app
