#include <easyretry/config.h>

#include "config/keys.h"
#include "config/masked_url.h"
#include "config/values.h"

namespace easyretry {
namespace config {
namespace {

template <class Owner>
std::string lines_of(const std::vector<Key<Owner>>& keys, const Owner& owner, std::string_view indentation) {
  std::string lines;
  for (const Key<Owner>& key : keys) {
    const auto text = key.text(owner);
    if (!text) continue;
    lines.append(indentation).append(key.name).append(": ").append(*text) += '\n';
  }
  return lines;
}

// A group of nothing is written as one, so that it is no question of what the next line belongs to.
std::string group(const std::string& title, const std::string& lines) {
  return title + (lines.empty() ? ": {}\n" : ":\n" + lines);
}

}  // namespace
}  // namespace config

std::string to_yaml(const Config& config) {
  Config shown = config;
  shown.store = config::masked_url(config.store);
  shown.engine.membership = config::masked_url(config.engine.membership);
  std::string text = config::lines_of(config::engine_keys(), shown, "");
  text += config::group("defaults", config::lines_of(config::handler_keys(), config.defaults, "  "));
  std::string handlers;
  for (const auto& [name, handler] : config.handlers) {
    handlers +=
        config::group("  " + config::yaml_word(name), config::lines_of(config::handler_keys(), handler, "    "));
  }
  return text + config::group("handlers", handlers) +
         config::group("server", config::lines_of(config::server_keys(), config.server, "  "));
}

}  // namespace easyretry
