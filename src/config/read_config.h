#pragma once
// Reads a configuration from YAML and from the environment.

#include <algorithm>
#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <easyretry/config.h>

#include "config/keys.h"
#include "config/node.h"

namespace easyretry::config {

template <class Owner>
const Key<Owner>* find(const std::vector<Key<Owner>>& keys, std::string_view name) {
  const auto found = std::find_if(keys.begin(), keys.end(), [&](const Key<Owner>& key) { return key.name == name; });
  return found == keys.end() ? nullptr : &*found;
}

template <class Owner>
std::vector<std::string_view> names_of(const std::vector<Key<Owner>>& keys) {
  std::vector<std::string_view> names;
  names.reserve(keys.size());
  for (const Key<Owner>& key : keys) names.push_back(key.name);
  return names;
}

// "unknown key, did you mean workers?", or the list of the known keys.
std::string unknown_key(std::string_view name, const std::vector<std::string_view>& known);

// Reads the keys of maps, and reports problems with them.
class MapReader {
 public:
  using Visit = std::function<void(const Node& name, const Node& value, const std::string& path)>;

  explicit MapReader(Problems& problems) : problems_(problems) {}

  // Calls `visit` for each key. A group without lines, because all are commented out, is empty.
  void each(const Node& map, const std::string& path, const Visit& visit);

  // Reports a missing value at its key: the parser places it on the next line.
  template <class Owner>
  void read(const Key<Owner>& key, Owner& owner, const Node& name, const Node& value, const std::string& path) {
    try {
      key.read(owner, value);
    } catch (const std::invalid_argument& error) {
      const Place& place = value.kind == Node::Kind::nothing ? name.place : value.place;
      problems_.add(place, path + ": " + error.what());
    }
  }

  // Reads a map that may have only these keys.
  template <class Owner>
  void read_all(const std::vector<Key<Owner>>& keys, Owner& owner, const Node& map, const std::string& path) {
    each(map, path, [&](const Node& name, const Node& value, const std::string& key_path) {
      if (const auto* key = find(keys, name.text)) return read(*key, owner, name, value, key_path);
      problems_.add(name.place, key_path + ": " + unknown_key(name.text, names_of(keys)));
    });
  }

  Problems& problems() { return problems_; }

 private:
  Problems& problems_;
};

// Both apply what is valid to `config`, and report the rest in `problems`.
void read_text(Config& config, std::string_view yaml, std::string_view source, Problems& problems);
void read_environment(Config& config, const Environment& environment, Problems& problems);

// Replaces the engine's log if the configuration sets anything of it.
void open_log(Config& config);

// True if shards are given both in the url of the store and as a key.
bool shards_twice(const Config& config);
inline constexpr std::string_view kShardsTwice = "shards is given here and in the url of store; keep one of them";

// The same for `alerts`. Also checks that a channel has the keys that its type needs and no others, and that the
// channels of a rule exist.
void read_alerts(AlertsConfig& alerts, const Node& map, const std::string& path, MapReader& maps);

}  // namespace easyretry::config
