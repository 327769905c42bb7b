#include "config/load.h"

#include <cerrno>
#include <fstream>
#include <system_error>

#include "config/read_config.h"
#include "config/read_yaml.h"

namespace easyretry {
namespace config {

std::string read_file(const std::filesystem::path& file, std::string& problem) {
  std::error_code ignored;  // what cannot be looked at cannot be opened either
  if (std::filesystem::is_directory(file, ignored)) {
    problem = "is a folder; give the path of a YAML file";
    return {};
  }
  errno = 0;
  std::ifstream stream{file, std::ios::binary};
  std::string content(kLargestFile + 1, '\0');
  if (stream.is_open()) stream.read(content.data(), static_cast<std::streamsize>(content.size()));
  if (!stream.is_open() || stream.bad()) {
    problem = "cannot be read: " + std::generic_category().message(errno) + "; give the path of a YAML file";
    return {};
  }
  content.resize(static_cast<std::size_t>(stream.gcount()));
  return content;
}

}  // namespace config

Config parse_config(std::string_view yaml, std::string_view source, const Environment& environment) {
  Config result;
  config::Problems problems;
  config::read_text(result, yaml, source, problems);
  config::read_environment(result, environment, problems);
  problems.throw_if_any();
  return result;
}

Config load_config(const std::filesystem::path& file, const Environment& environment) {
  std::string problem;
  const std::string content = config::read_file(file, problem);
  if (!problem.empty()) throw ConfigError({file.string() + ": " + problem});
  return parse_config(content, file.string(), environment);
}

std::string Config::store_url() const {
  if (!shards) return store;
  return store + (store.find('?') == std::string::npos ? "?" : "&") + "shards=" + std::to_string(*shards);
}

}  // namespace easyretry
