#include "config/read_config.h"
#include "config/source.h"

namespace easyretry {

Config parse_config(std::string_view yaml, std::string_view source, const Environment& environment) {
  Config result;
  config::Problems problems;
  config::read_text(result, yaml, source, problems);
  config::read_environment(result, environment, problems);
  problems.throw_if_any();
  return result;
}

Config load_config(const std::filesystem::path& file, const Environment& environment) {
  const auto source = config::open_source(file, stderr_log());
  const auto text = source->read();
  if (!text) throw ConfigError({source->name() + ": " + source->why_not()});
  return parse_config(*text, source->name(), environment);
}

std::string Config::store_url() const {
  if (!shards) return store;
  return store + (store.find('?') == std::string::npos ? "?" : "&") + "shards=" + std::to_string(*shards);
}

}  // namespace easyretry
