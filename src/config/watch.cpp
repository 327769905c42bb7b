#include <easyretry/config_watch.h>

#include "config/load.h"

namespace easyretry {

ConfigWatch::ConfigWatch(std::filesystem::path file, Environment environment)
    : file_(std::move(file)), environment_(std::move(environment)), judged_(read()), seen_(judged_) {
  current_ = judged_ ? parse_config(*judged_, file_.string(), environment_) : load_config(file_, environment_);
}

std::optional<tl::expected<Config, ConfigError>> ConfigWatch::step() {
  const Content content = read();
  const bool settled = content == seen_;
  seen_ = content;
  if (!settled || content == judged_) return std::nullopt;
  judged_ = content;
  auto news = judge(content);
  if (news) current_ = *news;
  return news;
}

ConfigWatch::Content ConfigWatch::read() const {
  std::string problem;
  std::string content = config::read_file(file_, problem);
  if (!problem.empty()) return std::nullopt;
  return content;
}

// To a starting engine an empty file means defaults; to a running one it is what a full disk leaves of a file.
tl::expected<Config, ConfigError> ConfigWatch::judge(const Content& content) const {
  try {
    if (content && content->empty()) {
      throw ConfigError({file_.string() + ": has become empty; write {} if all defaults are meant"});
    }
    return content ? parse_config(*content, file_.string(), environment_) : load_config(file_, environment_);
  } catch (const ConfigError& error) {
    return tl::make_unexpected(error);
  }
}

}  // namespace easyretry
