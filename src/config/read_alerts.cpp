#include "base/nearest.h"
#include "config/read_config.h"
#include "config/values.h"

namespace easyretry::config {
namespace {

struct Field {
  std::string_view name;
  bool given;
};

bool has_secret(ChannelType type) {
  return type == ChannelType::webhook || type == ChannelType::dingtalk || type == ChannelType::feishu;
}

void reject_keys(std::vector<std::string>& found, ChannelType type, std::initializer_list<Field> fields) {
  for (const auto& [name, given] : fields) {
    if (given)
      found.push_back(std::string{name} + " is not for type " + std::string{channel_type_text(type)} + "; delete it");
  }
}

void require(std::vector<std::string>& found, bool given, const std::string& field, const std::string& example) {
  if (!given) found.push_back(field + " is missing; write " + field + ": " + example);
}

std::string example_url(ChannelType type) {
  switch (type) {
    case ChannelType::webhook: return "https://oncall.example/hooks/retry";
    case ChannelType::slack: return "https://hooks.slack.com/services/…";
    case ChannelType::dingtalk: return "https://oapi.dingtalk.com/robot/send?access_token=…";
    case ChannelType::feishu: return "https://open.feishu.cn/open-apis/bot/v2/hook/…";
    case ChannelType::wecom: return "https://qyapi.weixin.qq.com/cgi-bin/webhook/send?key=…";
    case ChannelType::email: return "smtps://smtp.example:465";
  }
  return "";
}

void check_http(std::vector<std::string>& found, const AlertChannel& channel) {
  if (!channel.url.empty() && !channel.url.starts_with("https://") && !channel.url.starts_with("http://")) {
    found.push_back("url begins with neither https:// nor http://; write " + example_url(channel.type));
  }
  reject_keys(found, channel.type,
              {{"user", !channel.user.empty()},
               {"password_file", !channel.password_file.empty()},
               {"from", !channel.from.empty()},
               {"to", !channel.to.empty()},
               {"ca_file", !channel.ca_file.empty()}});
}

void check_email(std::vector<std::string>& found, const AlertChannel& channel) {
  const std::string& url = channel.url;
  const bool plain = url.starts_with("smtp+plain://");
  if (!url.empty() && !plain && !url.starts_with("smtps://") && !url.starts_with("smtp://")) {
    found.emplace_back(
        "url begins with none of smtps:// (TLS), smtp:// (STARTTLS) and smtp+plain:// (neither); write "
        "smtps://smtp.example:465");
  }
  if (const auto slashes = url.find("://"); slashes != url.npos && url.find_first_of("/?#", slashes + 3) != url.npos) {
    found.emplace_back("url has text after the server's name and port; write smtps://smtp.example:465");
  }
  require(found, !channel.from.empty(), "from", "retry@example.com");
  require(found, !channel.to.empty(), "to", "[oncall@example.com]");
  if (channel.user.empty() != channel.password_file.empty()) {
    found.emplace_back("user and password_file go together; write both or neither");
  }
  if (plain && !channel.password_file.empty()) {
    found.emplace_back("a password must not be sent unencrypted; write smtps:// or smtp:// instead of smtp+plain://");
  }
}

// The keys that are missing in a channel or do not fit its type. Each text says what to write; none quotes the url,
// which is a secret.
std::vector<std::string> objections(const AlertChannel& channel) {
  std::vector<std::string> found;
  require(found, !channel.url.empty(), "url", example_url(channel.type));
  channel.type == ChannelType::email ? check_email(found, channel) : check_http(found, channel);
  if (!has_secret(channel.type)) {
    reject_keys(found, channel.type, {{"secret_file", !channel.secret_file.empty()}});
  }
  if (channel.type == ChannelType::webhook) {
    require(found, !channel.secret_file.empty(), "secret_file", "/etc/easyretry/alerts.secrets");
  }
  return found;
}

std::vector<std::string> objections(const AlertRule& rule) {
  std::vector<std::string> found;
  require(found, !rule.channels.empty(), "channels", "[ops], with names from alerts.channels");
  const bool has_threshold = rule.final_failures > 0 || rule.quarantines > 0 || rule.backlog_age > Millis{0} ||
                             rule.circuit_open > Millis{0} || rule.failure_rate > 0;
  if (!has_threshold) {
    found.emplace_back(
        "it has no threshold; write one or more of final_failures: 1, quarantines: 1, backlog_age: 10m, "
        "circuit_open: 1m, failure_rate: 50%");
  }
  return found;
}

constexpr std::size_t kLongestName = 64;
constexpr std::size_t kMostChannels = 20;  // each has a thread
constexpr std::size_t kMostRules = 100;    // each is checked for every attempt

const Node* value_of(const Node& map, std::string_view key) {
  for (std::size_t i = 0; i < map.keys.size() && map.kind == Node::Kind::map; ++i) {
    if (map.keys[i].text == key) return &map.items[i];
  }
  return nullptr;
}

class AlertsReader {
 public:
  AlertsReader(AlertsConfig& alerts, MapReader& maps) : alerts_(alerts), maps_(maps), problems_(maps.problems()) {}

  void read(const Node& map, const std::string& path) {
    maps_.each(map, path, [&](const Node& name, const Node& value, const std::string& group_path) {
      if (name.text == kChannels) {
        named(value, group_path, alerts_.channels, channel_keys(), kMostChannels);
      } else if (name.text == kRules) {
        named(value, group_path, alerts_.rules, rule_keys(), kMostRules);
      } else {
        problems_.add(name.place, group_path + ": " + unknown_key(name.text, {kChannels, kRules}));
      }
    });
    // Afterwards, because channels may follow the rules that name them.
    const Node* rules = value_of(map, kRules);
    if (rules != nullptr) check_channel_names(*rules, path_of(path, kRules));
  }

 private:
  template <class Owner>
  void named(const Node& map, const std::string& path, std::map<std::string, Owner>& all,
             const std::vector<Key<Owner>>& keys, std::size_t most) {
    maps_.each(map, path, [&](const Node& name, const Node& value, const std::string& own_path) {
      if (name.text.empty() || name.text.size() > kLongestName) {
        return problems_.add(name.place, own_path + ": a name has 1 to 64 characters, such as ops");
      }
      if (all.size() >= most) {
        return problems_.add(name.place, own_path + ": at most " + std::to_string(most) + " are allowed");
      }
      Owner& owner = all[name.text];
      const std::size_t before = problems_.count();
      maps_.read_all(keys, owner, value, own_path);
      if (find(keys, "type") != nullptr && value_of(value, "type") == nullptr) {
        return problems_.add(
            name.place, own_path + ": type is missing; write one of webhook, slack, dingtalk, feishu, wecom, email");
      }
      if (problems_.count() == before) check(owner, name.place, own_path);
    });
  }

  // Only if all keys are valid: a key that could not be read would be reported as missing.
  void check(const auto& owner, const Place& place, const std::string& path) {
    for (const std::string& objection : objections(owner))
      problems_.add(place, std::string{path}.append(": ").append(objection));
  }

  void check_channel_names(const Node& rules, const std::string& path) {
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
  MapReader& maps_;
  Problems& problems_;
};

}  // namespace

void read_alerts(AlertsConfig& alerts, const Node& map, const std::string& path, MapReader& maps) {
  AlertsReader{alerts, maps}.read(map, path);
}

}  // namespace easyretry::config
