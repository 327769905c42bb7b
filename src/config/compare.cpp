#include <map>
#include <set>

#include <easyretry/config.h>

#include "config/keys.h"
#include "config/masked_url.h"
#include "config/node.h"
#include "config/values.h"

namespace easyretry {
namespace config {
namespace {

template <class Owner>
void add_changes(std::vector<ConfigChange>& changes, const std::vector<Key<Owner>>& keys, const std::string& path,
                 const Owner& running, const Owner& wanted) {
  for (const Key<Owner>& key : keys) {
    const auto from = key.text(running);
    const auto to = key.text(wanted);
    if (from == to) continue;
    changes.push_back(
        {path_of(path, key.name), from.value_or(""), to.value_or(""), key.takes_effect == TakesEffect::at_once});
  }
}

// After comparing, because a new password is also a change.
void mask_passwords(std::vector<ConfigChange>& changes, const Config& running, const Config& wanted) {
  const auto mask = [&](ConfigChange& change, const auto& url_in) {
    change.from = yaml_word(masked_url(url_in(running)));
    change.to = yaml_word(masked_url(url_in(wanted)));
  };
  for (ConfigChange& change : changes) {
    if (change.key == "store") mask(change, [](const Config& config) { return config.store; });
    if (change.key == "membership") mask(change, [](const Config& config) { return config.engine.membership; });
  }
}

// For maps by name. A missing entry is the same as an empty one.
template <class Owner>
void add_named_changes(std::vector<ConfigChange>& changes, const std::vector<Key<Owner>>& keys, const std::string& path,
                       const std::map<std::string, Owner>& running, const std::map<std::string, Owner>& wanted) {
  std::set<std::string> names;
  for (const auto* side : {&running, &wanted}) {
    for (const auto& [name, owner] : *side) names.insert(name);
  }
  const auto owner_of = [](const std::map<std::string, Owner>& side, const std::string& name) {
    const auto found = side.find(name);
    return found == side.end() ? Owner{} : found->second;
  };
  for (const std::string& name : names) {
    add_changes(changes, keys, path_of(path, name), owner_of(running, name), owner_of(wanted, name));
  }
}

// For channels and handlers; after comparing, as for passwords.
void mask_webhook_urls(std::vector<ConfigChange>& changes) {
  for (ConfigChange& change : changes) {
    if (!change.key.ends_with(".url")) continue;
    // yaml_word may have put the url in quotes.
    for (std::string* text : {&change.from, &change.to}) {
      if (text->starts_with('"')) *text = text->substr(1, text->size() - 2);
      if (!text->empty()) *text = yaml_word(masked_webhook_url(*text));
    }
  }
}

void add_alert_changes(std::vector<ConfigChange>& changes, const AlertsConfig& running, const AlertsConfig& wanted) {
  add_named_changes(changes, channel_keys(), "alerts.channels", running.channels, wanted.channels);
  add_named_changes(changes, rule_keys(), "alerts.rules", running.rules, wanted.rules);
}

}  // namespace
}  // namespace config

std::vector<ConfigChange> compare(const Config& running, const Config& wanted) {
  using namespace config;
  std::vector<ConfigChange> changes;
  add_changes(changes, engine_keys(), "", running, wanted);
  mask_passwords(changes, running, wanted);
  add_changes(changes, handler_keys(), std::string{kDefaults}, running.defaults, wanted.defaults);
  add_changes(changes, encryption_keys(), std::string{kEncryption}, running.encryption, wanted.encryption);
  add_changes(changes, log_keys(), std::string{kLog}, running.log, wanted.log);
  add_changes(changes, server_keys(), std::string{kServer}, running.server, wanted.server);
  add_named_changes(changes, handler_keys(), std::string{kHandlers}, running.handlers, wanted.handlers);
  add_alert_changes(changes, running.alerts, wanted.alerts);
  mask_webhook_urls(changes);
  return changes;
}

}  // namespace easyretry
