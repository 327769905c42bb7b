// Parsing, loading and watching a configuration.

#include "config/read_config.h"
#include "config/source.h"
#include "config/watch.h"

namespace easyretry {

Config parse_config(std::string_view yaml, std::string_view source, const Environment& environment) {
  Config result;
  config::Problems problems;
  config::read_text(result, yaml, source, problems);
  config::read_environment(result, environment, problems);
  problems.throw_if_any();
  config::open_log(result);
  return result;
}

Config load_config(const std::string& file, const Environment& environment) {
  const auto source = config::open_source(file, stderr_log());
  const auto text = source->read();
  if (!text) throw ConfigError({source->name() + ": " + source->why_not()});
  return parse_config(*text, source->name(), environment);
}

std::string Config::store_url() const {
  if (!shards) return store;
  return store + (store.find('?') == std::string::npos ? "?" : "&") + "shards=" + std::to_string(*shards);
}

ConfigWatch::ConfigWatch(const std::string& file, Environment environment, LogSink log)
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

// At the start, an empty file means defaults. For a running engine it is an error: a full disk leaves empty files.
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
