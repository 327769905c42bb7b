#include "call/configuration.h"

namespace easyretry::call {
namespace {

// The first that has a value.
template <class T>
std::optional<T> first_of(const std::optional<T>& own, const std::optional<T>& code, const std::optional<T>& rest) {
  return own ? own : code ? code : rest;
}

template <class T>
std::optional<T> unless_default(const T& value) {
  return value == T{} ? std::nullopt : std::optional{value};
}

}  // namespace

engine::HandlerSettings Configuration::settings(const Config& config, const std::string& name,
                                                const Registered& code) const {
  const auto found = config.handlers.find(name);
  const HandlerConfig own = found == config.handlers.end() ? HandlerConfig{} : found->second;
  engine::HandlerSettings settings{policy_of(config, name, code.policy, names_), code.options};
  HandlerOptions& options = settings.options;
  options.persist =
      first_of(own.persist, code.options.persist, config.defaults.persist).value_or(config.engine.persist);
  options.concurrency =
      first_of(own.concurrency, unless_default(code.options.concurrency), config.defaults.concurrency).value_or(0);
  options.timeout =
      first_of(own.timeout, unless_default(code.options.timeout), config.defaults.timeout).value_or(Millis{0});
  options.circuit = first_of(own.circuit, code.options.circuit, config.defaults.circuit);
  options.limit = first_of(own.limit, code.options.limit, config.defaults.limit);
  options.task_class = first_of(own.task_class, code.options.task_class, config.defaults.task_class);
  options.keep = first_of(own.keep, code.options.keep, config.defaults.keep);
  options.keep_args = first_of(own.keep_args, code.options.keep_args, config.defaults.keep_args);
  options.keep_results =
      first_of(own.keep_results, unless_default(code.options.keep_results), config.defaults.keep_results)
          .value_or(Millis{0});
  return settings;
}

Configuration::Registered Configuration::settle(detail::Handler& handler) const {
  const std::lock_guard lock{mutex_};
  Registered code{handler.policy, handler.options};
  engine::HandlerSettings settings = this->settings(running_, handler.name, code);
  handler.policy = std::move(settings.policy);
  handler.options = std::move(settings.options);
  return code;
}

void Configuration::remember(const std::string& name, Registered code) {
  const std::lock_guard lock{mutex_};
  registered_.insert_or_assign(name, std::move(code));
}

Configuration::Reload Configuration::prepare(const Config& wanted) const {
  const std::lock_guard lock{mutex_};
  Config next = running_;
  next.defaults = wanted.defaults;
  next.handlers = wanted.handlers;
  next.engine.window = wanted.engine.window;
  next.engine.poll = wanted.engine.poll;
  next.engine.grace = wanted.engine.grace;
  next.engine.batch = wanted.engine.batch;
  next.engine.max_crashes = wanted.engine.max_crashes;
  next.engine.max_payload = wanted.engine.max_payload;
  next.engine.drain = wanted.engine.drain;

  Reload reload{compare(running_, wanted), std::move(next), {}};
  for (const auto& [name, code] : registered_) reload.handlers.emplace(name, settings(reload.next, name, code));
  return reload;
}

void Configuration::commit(Reload reload) {
  const std::lock_guard lock{mutex_};
  running_ = std::move(reload.next);
}

std::vector<std::string> Configuration::unknown_handlers() const {
  const std::lock_guard lock{mutex_};
  std::vector<std::string> unknown;
  for (const auto& [name, own] : running_.handlers) {
    if (!registered_.contains(name)) unknown.push_back(name);
  }
  return unknown;
}

}  // namespace easyretry::call
