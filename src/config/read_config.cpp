#include "config/read_config.h"

#include <map>

#include "base/nearest.h"
#include "base/part.h"
#include "config/keys.h"
#include "config/node.h"

namespace easyretry::config {
namespace {

std::string example_in(std::string_view path) {
  if (path.empty()) return "workers: 8";
  if (path == kHandlers) return "payment.pay: {timeout: 10s}";
  if (path == kLog) return "level: info";
  if (path == kServer) return "listen: 127.0.0.1:7077";
  if (path == kAlerts) return "channels: {ops: {type: slack}}";
  if (path.starts_with("alerts.channels")) return "type: slack";
  if (path.starts_with("alerts.rules")) return "final_failures: 1";
  return "max_attempts: 5";
}

std::string not_a_group(const Node& node, const std::string& path) {
  return (path.empty() ? "" : path + ": ") + "found " + std::string{kind_text(node)} +
         "; write keys and values, such as \"" + example_in(path) + "\"";
}

constexpr std::size_t kLongestHandlerName = 200;  // as for registration

std::vector<std::string_view> names_at_the_top() {
  auto names = names_of(engine_keys());
  names.insert(names.end(), {kEncryption, kDefaults, kHandlers, kLog, kServer, kAlerts});
  return names;
}

class ConfigReader {
 public:
  ConfigReader(Config& config, Problems& problems) : config_(config), problems_(problems), maps_(problems) {}

  void top(const Node& root) {
    maps_.each(root, "", [&](const Node& name, const Node& value, const std::string& path) {
      if (name.text == kDefaults) {
        handler(value, path, config_.defaults);
      } else if (name.text == kHandlers) {
        handlers(value, path);
      } else if (name.text == kEncryption) {
        maps_.read_all(encryption_keys(), config_.encryption, value, path);
      } else if (name.text == kLog) {
        maps_.read_all(log_keys(), config_.log, value, path);
      } else if (name.text == kServer) {
        maps_.read_all(server_keys(), config_.server, value, path);
      } else if (name.text == kAlerts) {
        read_alerts(config_.alerts, value, path, maps_);
      } else if (const auto* key = find(engine_keys(), name.text)) {
        maps_.read(*key, config_, name, value, path);
      } else if (find(handler_keys(), name.text) != nullptr) {
        problems_.add(name.place, path + ": belongs to a handler; move it under defaults, or under one of handlers");
      } else {
        problems_.add(name.place, path + ": " + unknown_key(name.text, names_at_the_top()));
      }
    });
  }

 private:
  void handlers(const Node& map, const std::string& path) {
    maps_.each(map, path, [&](const Node& name, const Node& value, const std::string& handler_path) {
      if (name.text.empty() || name.text.size() > kLongestHandlerName) {
        problems_.add(name.place, handler_path + ": a handler's name has 1 to 200 characters, such as payment.pay");
        return;
      }
      handler(value, handler_path, config_.handlers[name.text]);
    });
  }

  void handler(const Node& map, const std::string& path, HandlerConfig& handler) {
    maps_.each(map, path, [&](const Node& name, const Node& value, const std::string& key_path) {
      if (const auto* key = find(handler_keys(), name.text)) {
        maps_.read(*key, handler, name, value, key_path);
      } else if (find(engine_keys(), name.text) != nullptr) {
        problems_.add(name.place, key_path + ": belongs to the engine; move it to the top, without indentation");
      } else {
        problems_.add(name.place, key_path + ": " + unknown_key(name.text, names_of(handler_keys())));
      }
    });
  }

  Config& config_;
  Problems& problems_;
  MapReader maps_;
};

// Where `shards` is written, if it is in the file.
Place place_of_shards(const Node& root, std::string_view source) {
  for (const Node& name : root.keys) {
    if (name.text == "shards") return name.place;
  }
  return {source};
}

}  // namespace

std::string unknown_key(std::string_view name, const std::vector<std::string_view>& known) {
  if (const auto meant = base::nearest(name, known)) return "unknown key, did you mean " + std::string{*meant} + "?";
  std::string text = "unknown key; the known keys are";
  for (const std::string_view key : known) text.append(key == known.front() ? " " : ", ").append(key);
  return text;
}

void MapReader::each(const Node& map, const std::string& path, const Visit& visit) {
  if (map.kind == Node::Kind::nothing) return;
  if (map.kind != Node::Kind::map) return problems_.add(map.place, not_a_group(map, path));
  std::map<std::string_view, int> lines;
  for (std::size_t i = 0; i < map.keys.size(); ++i) {
    const Node& name = map.keys[i];
    const std::string key_path = path_of(path, name.text);
    if (name.kind != Node::Kind::word) {
      problems_.add(name.place, "a key cannot be " + std::string{kind_text(name)} + "; write a word, such as workers");
    } else if (const auto [first, is_new] = lines.emplace(name.text, name.place.line); !is_new) {
      problems_.add(name.place,
                    key_path + ": given twice, first in line " + std::to_string(first->second) + "; keep one");
    } else {
      visit(name, map.items[i], key_path);
    }
  }
}

void open_log(Config& config) {
  if (config.log == LogConfig{}) return;
  const LogOptions usual;
  config.engine.log = stderr_log({config.log.level.value_or(usual.level), config.log.format.value_or(usual.format)});
}

bool shards_twice(const Config& config) {
  const auto options = config.store.find('?');
  if (!config.shards || options == std::string::npos) return false;
  const std::string_view text = std::string_view{config.store}.substr(options);
  return text.find("?shards=") != std::string_view::npos || text.find("&shards=") != std::string_view::npos;
}

void read_text(Config& config, std::string_view yaml, std::string_view source, Problems& problems) {
  if (easyretry_yaml == nullptr) return problems.add({source}, base::missing_part("configuration files", "config"));
  const Node root = easyretry_yaml()->read(yaml, source, problems);
  ConfigReader{config, problems}.top(root);
  if (shards_twice(config)) problems.add(place_of_shards(root, source), kShardsTwice);
}

}  // namespace easyretry::config
