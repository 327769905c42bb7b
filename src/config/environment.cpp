#include <algorithm>
#include <set>
#include <stdexcept>

#include <unistd.h>

#include "base/nearest.h"
#include "base/utf8.h"
#include "config/keys.h"
#include "config/read_config.h"

namespace easyretry {
namespace config {
namespace {

constexpr std::string_view kPrefix = "EASYRETRY_";
// The token that the command line sends to a daemon; it may also be set where a daemon is started.
constexpr std::string_view kToken = "EASYRETRY_TOKEN";

// In Kubernetes, a service named easyretry or easyretry-web adds EASYRETRY_SERVICE_HOST, EASYRETRY_PORT=tcp://…,
// EASYRETRY_WEB_PORT_80_TCP_ADDR and others to the environment of every pod.
bool is_from_kubernetes(std::string_view name, std::string_view value) {
  const auto has = [&](std::string_view part) { return name.find(part) != std::string_view::npos; };
  return has("_SERVICE_HOST") || has("_SERVICE_PORT") || (name.ends_with("_PORT") && value.find("://") != value.npos) ||
         (has("_PORT_") && (has("_TCP") || has("_UDP") || has("_SCTP")));
}

class EnvironmentReader {
 public:
  EnvironmentReader(Config& config, const Environment& environment, Problems& problems)
      : config_(config), environment_(environment), problems_(problems) {}

  void read() {
    for (const auto& key : engine_keys()) read(key, config_, key.name);
    for (const auto& key : handler_keys())
      read(key, config_.defaults, std::string{kDefaults} + "." + std::string{key.name});
    for (const auto& key : encryption_keys())
      read(key, config_.encryption, std::string{kEncryption} + "." + std::string{key.name});
    for (const auto& key : log_keys()) read(key, config_.log, std::string{kLog} + "." + std::string{key.name});
    for (const auto& key : server_keys()) read(key, config_.server, std::string{kServer} + "." + std::string{key.name});
    for (const auto& [name, value] : environment_) {
      if (!value.empty() && name.starts_with(kPrefix) && !known_.contains(name)) refuse(name, value);
    }
  }

 private:
  template <class Owner>
  void read(const Key<Owner>& key, Owner& owner, std::string_view path) {
    if (key.is_list) return;
    const std::string& name = *known_.insert(variable_of(path)).first;
    const auto variable = environment_.find(name);
    if (variable == environment_.end() || variable->second.empty()) return;
    if (base::invalid_utf8(variable->second) != std::string_view::npos) {
      problems_.add({name}, "not UTF-8; set it to text in UTF-8");
      return;
    }
    try {
      key.read(owner, {Node::Kind::word, {name}, variable->second});
    } catch (const std::invalid_argument& error) {
      problems_.add({name}, error.what());
    }
  }

  void refuse(const std::string& name, std::string_view value) {
    if (name == kToken || is_from_kubernetes(name, value)) return;
    if (name.starts_with(variable_of(kHandlers))) {
      problems_.add({name}, "handlers have no variables; set it under handlers in the file");
    } else if (name.starts_with(variable_of(kAlerts))) {
      problems_.add({name}, "alerts have no variables; set it under alerts in the file");
    } else if (is_of_a_list(name)) {
      problems_.add({name}, "lists have no variables; set it in the file");
    } else {
      const auto meant = base::nearest(name.substr(kPrefix.size()), short_names());
      problems_.add({name}, meant ? "unknown variable, did you mean " + std::string{kPrefix} + std::string{*meant} + "?"
                                  : "unknown variable; unset it, or see docs/configuration.md for the known ones");
    }
  }

  static bool is_of_a_list(std::string_view name) {
    const auto is = [&](std::string_view group, const auto& key) {
      return key.is_list && name == variable_of(std::string{group} + "." + std::string{key.name});
    };
    const auto& of_handlers = handler_keys();
    const auto& of_server = server_keys();
    return std::any_of(of_handlers.begin(), of_handlers.end(), [&](const auto& key) { return is(kDefaults, key); }) ||
           std::any_of(of_server.begin(), of_server.end(), [&](const auto& key) { return is(kServer, key); });
  }

  // Without the prefix: it is never mistyped, and it would make all names look similar.
  std::vector<std::string_view> short_names() const {
    std::vector<std::string_view> names;
    for (const std::string& name : known_) names.push_back(std::string_view{name}.substr(kPrefix.size()));
    return names;
  }

  Config& config_;
  const Environment& environment_;
  Problems& problems_;
  std::set<std::string> known_;
};

bool is_set(const Environment& environment, const std::string& name) {
  const auto found = environment.find(name);
  return found != environment.end() && !found->second.empty();
}

}  // namespace

void read_environment(Config& config, const Environment& environment, Problems& problems) {
  EnvironmentReader{config, environment, problems}.read();
  if (!shards_twice(config)) return;
  for (const char* key : {"shards", "store"}) {
    const std::string name = variable_of(key);
    if (is_set(environment, name)) return problems.add({name}, kShardsTwice);
  }
}

}  // namespace config

Environment easyretry_environment() {
  Environment found;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text{*entry};
    const auto equals = text.find('=');
    if (!text.starts_with(config::kPrefix) || equals == std::string_view::npos) continue;
    found.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  return found;
}

void apply_environment(Config& config, const Environment& environment) {
  config::Problems problems;
  Config changed = config;
  config::read_environment(changed, environment, problems);
  problems.throw_if_any();
  config::open_log(changed);
  config = std::move(changed);
}

}  // namespace easyretry
