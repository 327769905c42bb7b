#include <easyretry/config.h>

#include "config/keys.h"
#include "config/masked_url.h"
#include "config/values.h"

namespace easyretry {
namespace config {
namespace {

template <class Owner>
std::string lines_of(const std::vector<Key<Owner>>& keys, const Owner& owner, std::string_view indentation) {
  std::string lines;
  for (const Key<Owner>& key : keys) {
    const auto text = key.text(owner);
    if (!text) continue;
    lines.append(indentation).append(key.name).append(": ").append(*text) += '\n';
  }
  return lines;
}

// A group of nothing is written as one, so that it is no question of what the next line belongs to.
std::string group(const std::string& title, const std::string& lines) {
  return title + (lines.empty() ? ": {}\n" : ":\n" + lines);
}

template <class Owner>
std::string groups_of(const std::vector<Key<Owner>>& keys, const std::map<std::string, Owner>& owners,
                      const std::string& indentation) {
  std::string groups;
  for (const auto& [name, owner] : owners) {
    groups += group(indentation + yaml_word(name), lines_of(keys, owner, indentation + "  "));
  }
  return groups;
}

// Nothing where there are none: unlike the other groups it has no defaults to be seen.
std::string alerts_text(const AlertsConfig& alerts) {
  if (alerts == AlertsConfig{}) return "";
  auto channels = alerts.channels;
  for (auto& [name, channel] : channels) channel.url = masked_webhook_url(channel.url);
  return group("alerts", group("  channels", groups_of(channel_keys(), channels, "    ")) +
                             group("  rules", groups_of(rule_keys(), alerts.rules, "    ")));
}

void mask(HandlerConfig& handler) {
  if (handler.url) handler.url = masked_webhook_url(*handler.url);
}

}  // namespace
}  // namespace config

std::string to_yaml(const Config& config) {
  Config shown = config;
  config::mask(shown.defaults);
  for (auto& [name, handler] : shown.handlers) config::mask(handler);
  shown.store = config::masked_url(config.store);
  shown.engine.membership = config::masked_url(config.engine.membership);
  std::string text = config::lines_of(config::engine_keys(), shown, "");
  text += config::group("encryption", config::lines_of(config::encryption_keys(), config.encryption, "  "));
  text += config::group("defaults", config::lines_of(config::handler_keys(), shown.defaults, "  "));
  return text + config::group("handlers", config::groups_of(config::handler_keys(), shown.handlers, "  ")) +
         config::group("server", config::lines_of(config::server_keys(), config.server, "  ")) +
         config::alerts_text(config.alerts);
}

}  // namespace easyretry
