#pragma once
// All keys, in tables: files and the environment are read, configurations are compared and printed, and the page in
// docs/ is checked with these tables.

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <easyretry/config.h>

#include "config/node.h"

namespace easyretry::config {

// When a changed value takes effect.
enum class TakesEffect { at_once, after_restart };

template <class Owner>
struct Key {
  std::string_view name;
  TakesEffect takes_effect;
  // Throws std::invalid_argument that says what is wrong with the node and what to write instead.
  std::function<void(Owner&, const Node&)> read;
  // As YAML; nullopt if it is not given.
  std::function<std::optional<std::string>(const Owner&)> text;
  bool is_list = false;  // lists have no environment variable
};

const std::vector<Key<Config>>& engine_keys();
const std::vector<Key<HandlerConfig>>& handler_keys();
const std::vector<Key<KeyFolder>>& encryption_keys();
const std::vector<Key<LogConfig>>& log_keys();
const std::vector<Key<ServerConfig>>& server_keys();
const std::vector<Key<AlertChannel>>& channel_keys();
const std::vector<Key<AlertRule>>& rule_keys();

// The groups of keys; the engine's keys are at the top level.
inline constexpr std::string_view kDefaults = "defaults";
inline constexpr std::string_view kHandlers = "handlers";
inline constexpr std::string_view kEncryption = "encryption";
inline constexpr std::string_view kLog = "log";
inline constexpr std::string_view kServer = "server";
inline constexpr std::string_view kAlerts = "alerts";
inline constexpr std::string_view kChannels = "channels";  // under alerts
inline constexpr std::string_view kRules = "rules";

// "defaults.max_attempts" is EASYRETRY_DEFAULTS_MAX_ATTEMPTS.
std::string variable_of(std::string_view key_path);

}  // namespace easyretry::config
