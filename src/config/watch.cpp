#include <easyretry/config_watch.h>

#include "config/source.h"

namespace easyretry {

ConfigWatch::ConfigWatch(const std::filesystem::path& file, Environment environment, LogSink log)
    : source_(config::open_source(file, std::move(log))),
      environment_(std::move(environment)),
      judged_(source_->read()),
      seen_(judged_) {
  if (!judged_ && source_->reached()) throw ConfigError({source_->name() + ": " + source_->why_not()});
  current_ = parse_config(judged_.value_or(""), source_->name(), environment_);
}

std::optional<tl::expected<Config, ConfigError>> ConfigWatch::step() {
  const Content content = source_->read();
  const bool settled = content == seen_;
  seen_ = content;
  if (!settled || content == judged_) return std::nullopt;
  judged_ = content;
  auto news = judge(content);
  if (news) current_ = *news;
  return news;
}

std::optional<std::string> ConfigWatch::waits_for() const {
  if (source_->reached()) return std::nullopt;
  return source_->name() + ": " + source_->why_not();
}

// To a starting engine an empty file means defaults; to a running one it is what a full disk leaves of a file.
tl::expected<Config, ConfigError> ConfigWatch::judge(const Content& content) const {
  try {
    if (!content) throw ConfigError({source_->name() + ": " + source_->why_not()});
    if (content->empty()) {
      throw ConfigError({source_->name() + ": is empty now; write {} to use all defaults"});
    }
    return parse_config(*content, source_->name(), environment_);
  } catch (const ConfigError& error) {
    return tl::make_unexpected(error);
  }
}

}  // namespace easyretry
