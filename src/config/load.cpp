// Parsing, loading and watching a configuration.

#include "config/read_config.h"
#include "config/source.h"
#include "config/watch.h"

namespace easyretry {
namespace {

bool names_a_program(std::string_view store) {
  return store.find("?password_command=") != std::string_view::npos ||
         store.find("&password_command=") != std::string_view::npos;
}

Config read(std::string_view yaml, std::string_view source, const Environment& environment, bool remote) {
  Config result;
  config::Problems problems;
  config::read_text(result, yaml, source, problems);
  if (remote && names_a_program(result.store)) {
    problems.add({source},
                 "store: password_command lets everyone who can write this text run programs on this machine; "
                 "set the url in EASYRETRY_STORE, or use password_file");
  }
  config::read_environment(result, environment, problems);
  problems.throw_if_any();
  config::open_log(result);
  return result;
}

}  // namespace

Config parse_config(std::string_view yaml, std::string_view source, const Environment& environment) {
  return read(yaml, source, environment, false);
}

Config load_config(const std::string& file, const Environment& environment) {
  const auto source = config::open_source(file, stderr_log());
  const auto text = source->read();
  if (!text) throw ConfigError({source->name() + ": " + source->why_not()});
  return read(*text, source->name(), environment, source->remote());
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
  current_ = read(judged_.value_or(""), source_->name(), environment_, source_->remote());
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
    return read(*content, source_->name(), environment_, source_->remote());
  } catch (const ConfigError& error) {
    return tl::make_unexpected(error);
  }
}

}  // namespace easyretry
