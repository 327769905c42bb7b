#include "config/read_config.h"

#include "config/entries.h"
#include "config/keys.h"
#include "config/read_alerts.h"
#include "config/read_yaml.h"

namespace easyretry::config {
namespace {

constexpr std::size_t kLongestHandlerName = 200;  // what a registration takes

std::vector<std::string_view> names_at_the_top() {
  auto names = names_of(engine_keys());
  names.insert(names.end(), {kEncryption, kDefaults, kHandlers, kServer, kAlerts});
  return names;
}

class Reader {
 public:
  Reader(Config& config, Problems& problems) : config_(config), problems_(problems), entries_(problems) {}

  void top(const Node& root) {
    entries_.each(root, "", [&](const Node& name, const Node& value, const std::string& path) {
      if (name.text == kDefaults) {
        handler(value, path, config_.defaults);
      } else if (name.text == kHandlers) {
        handlers(value, path);
      } else if (name.text == kEncryption) {
        entries_.read_all(encryption_keys(), config_.encryption, value, path);
      } else if (name.text == kServer) {
        entries_.read_all(server_keys(), config_.server, value, path);
      } else if (name.text == kAlerts) {
        read_alerts(config_.alerts, value, path, entries_);
      } else if (const auto* key = find(engine_keys(), name.text)) {
        entries_.read(*key, config_, name, value, path);
      } else if (find(handler_keys(), name.text) != nullptr) {
        problems_.add(name.place, path + ": belongs to a handler; move it under defaults, or under one of handlers");
      } else {
        problems_.add(name.place, path + ": " + unknown_key(name.text, names_at_the_top()));
      }
    });
  }

 private:
  void handlers(const Node& map, const std::string& path) {
    entries_.each(map, path, [&](const Node& name, const Node& value, const std::string& handler_path) {
      if (name.text.empty() || name.text.size() > kLongestHandlerName) {
        problems_.add(name.place, handler_path + ": a handler's name has 1 to 200 characters, such as payment.pay");
        return;
      }
      handler(value, handler_path, config_.handlers[name.text]);
    });
  }

  void handler(const Node& map, const std::string& path, HandlerConfig& handler) {
    entries_.each(map, path, [&](const Node& name, const Node& value, const std::string& key_path) {
      if (const auto* key = find(handler_keys(), name.text)) {
        entries_.read(*key, handler, name, value, key_path);
      } else if (find(engine_keys(), name.text) != nullptr) {
        problems_.add(name.place, key_path + ": belongs to the engine; move it to the top, without indentation");
      } else {
        problems_.add(name.place, key_path + ": " + unknown_key(name.text, names_of(handler_keys())));
      }
    });
  }

  Config& config_;
  Problems& problems_;
  Entries entries_;
};

// Where `shards` is, if it is anywhere.
Place place_of_shards(const Node& root, std::string_view source) {
  for (const Node& name : root.keys) {
    if (name.text == "shards") return name.place;
  }
  return {source};
}

}  // namespace

bool shards_twice(const Config& config) {
  const auto options = config.store.find('?');
  if (!config.shards || options == std::string::npos) return false;
  const std::string_view text = std::string_view{config.store}.substr(options);
  return text.find("?shards=") != std::string_view::npos || text.find("&shards=") != std::string_view::npos;
}

void read_text(Config& config, std::string_view yaml, std::string_view source, Problems& problems) {
  const Node root = read_yaml(yaml, source, problems);
  Reader{config, problems}.top(root);
  if (shards_twice(config)) problems.add(place_of_shards(root, source), kShardsTwice);
}

}  // namespace easyretry::config
