#include <set>

#include <easyretry/config.h>

#include "config/keys.h"
#include "config/masked_url.h"
#include "config/problems.h"
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
        {path_of(path, key.name), from.value_or(""), to.value_or(""), key.change == Takes::effect_at_once});
  }
}

// After comparing: another password is a change, too.
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

std::set<std::string> handlers_of(const Config& running, const Config& wanted) {
  std::set<std::string> names;
  for (const Config* side : {&running, &wanted}) {
    for (const auto& [name, handler] : side->handlers) names.insert(name);
  }
  return names;
}

// A handler without an entry says nothing, like an empty one.
HandlerConfig handler_of(const Config& config, const std::string& name) {
  const auto found = config.handlers.find(name);
  return found == config.handlers.end() ? HandlerConfig{} : found->second;
}

}  // namespace
}  // namespace config

std::vector<ConfigChange> compare(const Config& running, const Config& wanted) {
  using namespace config;
  std::vector<ConfigChange> changes;
  add_changes(changes, engine_keys(), "", running, wanted);
  mask_passwords(changes, running, wanted);
  add_changes(changes, handler_keys(), std::string{kDefaults}, running.defaults, wanted.defaults);
  add_changes(changes, server_keys(), std::string{kServer}, running.server, wanted.server);
  for (const std::string& name : handlers_of(running, wanted)) {
    const std::string path = path_of(std::string{kHandlers}, name);
    add_changes(changes, handler_keys(), path, handler_of(running, name), handler_of(wanted, name));
  }
  return changes;
}

}  // namespace easyretry
