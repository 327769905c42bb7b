#include "config/read_alerts.h"

#include "base/nearest.h"
#include "config/alert_checks.h"

namespace easyretry::config {
namespace {

constexpr std::size_t kLongestName = 64;
constexpr std::size_t kMostChannels = 20;  // each has a thread
constexpr std::size_t kMostRules = 100;    // each is asked about every attempt

const Node* value_of(const Node& map, std::string_view key) {
  for (std::size_t i = 0; i < map.keys.size() && map.kind == Node::Kind::map; ++i) {
    if (map.keys[i].text == key) return &map.items[i];
  }
  return nullptr;
}

class AlertsReader {
 public:
  AlertsReader(AlertsConfig& alerts, Entries& entries)
      : alerts_(alerts), entries_(entries), problems_(entries.problems()) {}

  void read(const Node& map, const std::string& path) {
    entries_.each(map, path, [&](const Node& name, const Node& value, const std::string& group_path) {
      if (name.text == kChannels) {
        named(value, group_path, alerts_.channels, channel_keys(), kMostChannels);
      } else if (name.text == kRules) {
        named(value, group_path, alerts_.rules, rule_keys(), kMostRules);
      } else {
        problems_.add(name.place, group_path + ": " + unknown_key(name.text, {kChannels, kRules}));
      }
    });
    // Channels may stand behind the rules that name them.
    const Node* rules = value_of(map, kRules);
    if (rules != nullptr) check_names_of_channels(*rules, path_of(path, kRules));
  }

 private:
  template <class Owner>
  void named(const Node& map, const std::string& path, std::map<std::string, Owner>& all,
             const std::vector<Key<Owner>>& keys, std::size_t most) {
    entries_.each(map, path, [&](const Node& name, const Node& value, const std::string& own_path) {
      if (name.text.empty() || name.text.size() > kLongestName) {
        return problems_.add(name.place, own_path + ": a name has 1 to 64 characters, such as ops");
      }
      if (all.size() >= most) {
        return problems_.add(name.place, own_path + ": at most " + std::to_string(most) + " are allowed");
      }
      Owner& owner = all[name.text];
      const std::size_t before = problems_.count();
      entries_.read_all(keys, owner, value, own_path);
      if (find(keys, "type") != nullptr && value_of(value, "type") == nullptr) {
        return problems_.add(
            name.place, own_path + ": type is missing; write one of webhook, slack, dingtalk, feishu, wecom, email");
      }
      if (problems_.count() == before) check(owner, name.place, own_path);
    });
  }

  // Only where the keys themselves are right: what could not be read would be called missing.
  void check(const auto& owner, const Place& place, const std::string& path) {
    for (const std::string& objection : objections(owner))
      problems_.add(place, std::string{path}.append(": ").append(objection));
  }

  void check_names_of_channels(const Node& rules, const std::string& path) {
    std::vector<std::string_view> known;
    for (const auto& [name, channel] : alerts_.channels) known.push_back(name);
    for (std::size_t i = 0; i < rules.keys.size() && rules.kind == Node::Kind::map; ++i) {
      const Node* names = value_of(rules.items[i], kChannels);
      if (names == nullptr || names->kind != Node::Kind::list) continue;
      for (const Node& name : names->items) {
        if (alerts_.channels.contains(name.text)) continue;
        const auto meant = base::nearest(name.text, known);
        problems_.add(name.place, path_of(path, rules.keys[i].text) + ".channels: there is no channel " +
                                      in_quotes(name.text) + " under alerts.channels" +
                                      (meant ? ", did you mean " + std::string{*meant} + "?" : ""));
      }
    }
  }

  AlertsConfig& alerts_;
  Entries& entries_;
  Problems& problems_;
};

}  // namespace

void read_alerts(AlertsConfig& alerts, const Node& map, const std::string& path, Entries& entries) {
  AlertsReader{alerts, entries}.read(map, path);
}

}  // namespace easyretry::config
