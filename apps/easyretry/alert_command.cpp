#include <memory>
#include <string>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "alert/channel.h"
#include "commands.h"
#include "service/service.h"

namespace easyretry::app {
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
