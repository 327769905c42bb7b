#include <algorithm>

#include <easyretry/config.h>
#include <easyretry/detail/json_text.h>

#include "config/keys.h"
#include "config/masked_url.h"
#include "config/values.h"

namespace easyretry {
namespace config {
namespace {

bool is_letter_or_digit(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

// Stricter than YAML, which has rules for each character and position: text is quoted unless it is clearly plain.
bool needs_no_quotes(std::string_view text) {
  const auto harmless = [](char c) {
    return is_letter_or_digit(c) || std::string_view{" _./:=-+*<>()"}.find(c) != std::string_view::npos;
  };
  if (text.empty() || !(is_letter_or_digit(text.front()) || text.front() == '/')) return false;
  if (text.ends_with(' ') || text.ends_with(':') || text.find(": ") != std::string_view::npos) return false;
  if (text == "null" || text == "Null" || text == "NULL") return false;
  return std::all_of(text.begin(), text.end(), harmless);
}

template <class Owner>
std::string yaml_lines_of(const std::vector<Key<Owner>>& keys, const Owner& owner, std::string_view indentation) {
  std::string lines;
  for (const Key<Owner>& key : keys) {
    const auto text = key.text(owner);
    if (!text) continue;
    lines.append(indentation).append(key.name).append(": ").append(*text) += '\n';
  }
  return lines;
}

// An empty group is written as {}, so that the next line does not seem to belong to it.
std::string group(const std::string& title, const std::string& lines) {
  return title + (lines.empty() ? ": {}\n" : ":\n" + lines);
}

template <class Owner>
std::string groups_of(const std::vector<Key<Owner>>& keys, const std::map<std::string, Owner>& owners,
                      const std::string& indentation) {
  std::string groups;
  for (const auto& [name, owner] : owners) {
    groups += group(indentation + yaml_word(name), yaml_lines_of(keys, owner, indentation + "  "));
  }
  return groups;
}

// Empty if nothing is set: the defaults of the daemon and of an engine inside an application differ.
std::string log_text(const LogConfig& log) {
  if (log == LogConfig{}) return "";
  return group("log", yaml_lines_of(log_keys(), log, "  "));
}

// Empty without alerts: unlike the other groups, this one has no defaults to show.
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

// A JSON string is also a YAML string.
std::string yaml_word(std::string_view text) {
  if (needs_no_quotes(text)) return std::string{text};
  JsonWriter writer;
  writer.string(text);
  return writer.take();
}

std::string yaml_list(const std::vector<WrittenName>& names) {
  std::string text;
  for (const WrittenName& name : names) text.append(text.empty() ? "" : ", ").append(yaml_word(name.name));
  return "[" + text + "]";
}

std::string yaml_list(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text.append(text.empty() ? "" : ", ").append(yaml_word(word));
  return "[" + text + "]";
}

}  // namespace config

std::string to_yaml(const Config& config) {
  Config shown = config;
  config::mask(shown.defaults);
  for (auto& [name, handler] : shown.handlers) config::mask(handler);
  shown.store = config::masked_url(config.store);
  shown.engine.membership = config::masked_url(config.engine.membership);
  std::string text = config::yaml_lines_of(config::engine_keys(), shown, "");
  text += config::group("encryption", config::yaml_lines_of(config::encryption_keys(), config.encryption, "  "));
  text += config::group("defaults", config::yaml_lines_of(config::handler_keys(), shown.defaults, "  "));
  return text + config::group("handlers", config::groups_of(config::handler_keys(), shown.handlers, "  ")) +
         config::log_text(config.log) +
         config::group("server", config::yaml_lines_of(config::server_keys(), config.server, "  ")) +
         config::alerts_text(config.alerts);
}

}  // namespace easyretry
